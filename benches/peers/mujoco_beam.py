"""MuJoCo on the common beam: a flex of tets, which is Saint-Venant-Kirchhoff; its "discrete" integrator, which takes one
linear solve per step with the Gauss-Newton part of the stiffness. Explicit: its "Euler", which is the symplectic one.
"""

import sys

import common
import mujoco
import numpy as np

XML = """<mujoco>
  <option gravity="0 {G} 0" timestep="{h}" integrator="{integrator}" jacobian="sparse">
    <flag contact="disable" constraint="disable" eulerdamp="disable"/>
  </option>
  <size memory="4G"/>
  <worldbody>
    <flexcomp name="beam" type="direct" dim="3" mass="{mass}" radius="0.001" point="{points}" element="{tets}">
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <edge equality="false"/>
      <elasticity young="{E}" poisson="{NU}" damping="0"/>
      <pin id="{held}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def beam(points, tets, integrator, h):
    text = lambda a: " ".join(map(str, np.ravel(a)))
    model = mujoco.MjModel.from_xml_string(XML.format(
        integrator=integrator, G=common.G, h=h, mass=4 * common.RHO, E=common.E, NU=common.NU,
        points=text(points), tets=text(tets), held=text(np.flatnonzero(points[:, 0] == 0))))
    data = mujoco.MjData(model)
    free = points[:, 0] > 0
    model.body_mass[model.flex_vertbodyid[free]] = common.lumped(points, tets)[free]
    mujoco.mj_setConst(model, data)
    mujoco.mj_forward(model, data)
    tip = points[:, 0] == 4

    def fall():
        mujoco.mj_kinematics(model, data)
        mujoco.mj_flex(model, data)
        return (data.flexvert_xpos - points)[tip, 1].mean()

    return lambda: mujoco.mj_step(model, data), fall


if __name__ == "__main__":
    mujoco.set_mju_user_warning(lambda text: None)  # it would write a file
    settings = "symplectic Euler" if "--explicit" in sys.argv else "one linear solve per step"
    prepare, explicit = (lambda points, tets, method=method: beam(points, tets, *method)
                         for method in (("discrete", common.H), ("Euler", common.EXPLICIT_H)))
    common.main("MuJoCo", mujoco.__version__, settings, prepare, explicit, mass="lumped", material="stvk")
