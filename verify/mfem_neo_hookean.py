"""Forces, energy and stiffness of "neo-hookean" equal those of MFEM.

MFEM's NeoHookeanModel(mu, K) is W = μ/2 (J^{-2/3} tr C − 3) + K/2 (J − 1)² with shear and bulk modulus
(mfem/fem/nonlininteg.hpp; EvalW in nonlininteg.cpp), the isochoric model of METHODS §1. Both programs get
the same vertices, tets and deformed positions: lilyan's initial stretch + twist + turn, and a state in
which every vertex of that is thrown about at random. MFEM: PyPI `mfem`, serial.
"""

import common
from common import check, np

E, NU = 1e5, 0.3
MATERIAL = {"model": "neo-hookean", "E": E, "nu": NU, "rho": 1000}
BENT = {"stretch": [1.3, 0.9, 0.8], "twist": {"axis": [1, 0, 0], "degrees": 120},
        "rotate": {"axis": [1, 2, 3], "degrees": 40}}
FIELDS = ("force", "displacement")


def judge(mfem, rest, tets, positions):
    """MFEM's energy, nodal forces and stiffness (unknowns x₀ y₀ z₀ x₁ …) with the body at `positions`."""
    _, mu, kappa = common.constants(E, NU)
    mesh = mfem.Mesh(3, len(rest), len(tets), 0, 3)
    for p in rest:
        mesh.AddVertex(*map(float, p))
    for t in tets:
        mesh.AddTet(*map(int, t))
    mesh.FinalizeTetMesh(0, 0, False)
    space = mfem.FiniteElementSpace(mesh, mfem.H1_FECollection(1, 3), 3, mfem.Ordering.byVDIM)
    form = mfem.NonlinearForm(space)
    model = mfem.NeoHookeanModel(mu, kappa)
    form.AddDomainIntegrator(mfem.HyperelasticNLFIntegrator(model))
    x, gradient = mfem.Vector(positions.ravel().copy()), mfem.Vector(positions.size)
    form.Mult(x, gradient)
    import scipy.sparse
    K = mfem.Opr2SparseMat(form.GetGradient(x))
    K = scipy.sparse.csr_matrix((K.GetDataArray().copy(), K.GetJArray().copy(), K.GetIArray().copy()))
    return form.GetEnergy(x), -gradient.GetDataArray().reshape(-1, 3), K


def main():
    mfem = common.need("mfem.ser")
    meshes = {"box": common.box([4, 1, 1], [8, 2, 2]), "spot": {"file": str(common.REPOSITORY / "scenes/spot.mesh")},
              "bar-651": common.public_mesh("polyfem/bar-651.msh"), "tire": common.public_mesh("stark/tire.vtk")}
    random = np.random.default_rng(1)
    for name, mesh in meshes.items():
        if mesh is None:
            common.skip(f"{name}: forces", "the public mesh set is not here")
            continue
        # The tire is three times as wide as long: a full twist would turn its tets inside out.
        bent = BENT | {"twist": {"axis": [1, 0, 0], "degrees": 20}} if name == "tire" else BENT
        scene = common.one_body(mesh, MATERIAL, step=1e-9, fields=FIELDS, initial=bent)
        result = common.run(scene)
        frame = result.frame(0)
        rest = common.tets_of(mesh).points
        compare(mfem, f"{name}, stretched and twisted", frame, result.energy["elastic"][0], rest)
        scene = common.one_body(mesh, MATERIAL)
        found = common.modes(scene, 1, matrices=True, at=result.frame_paths()[0])
        K = judge(mfem, rest, frame.tets, frame.points)[2]
        check(f"{name}, stretched and twisted: stiffness matrix", abs(found.K - K).max() / abs(K).max(), 1e-12)
        if name == "box":
            # Thrown about by up to a sixth of a cell.
            u = frame.points - rest + random.uniform(-0.08, 0.08, rest.shape)
            frame, result = common.impose(mesh, MATERIAL, u)
            compare(mfem, f"{name}, and thrown about at random", frame, result.energy["elastic"][-1], rest)


def compare(mfem, name, frame, energy, rest):
    W, force, _ = judge(mfem, rest, frame.tets, frame.points)
    check(f"{name} ({len(frame.tets)} tets): nodal forces", common.off(frame.point["force"], force), 1e-12)
    check(f"{name} ({len(frame.tets)} tets): energy", abs(energy - W) / W, 1e-12)


common.start(main)
