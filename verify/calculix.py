"""Statics and frequencies equal CalculiX's (C3D4).

The square beam of PolyFEM's data (2886 tets), one end clamped, hanging under gravity. Statics in lilyan:
backward Euler with steps of hours, in which inertia has no part. CalculiX: linear, and NLGEOM with *ELASTIC,
which is Saint-Venant–Kirchhoff. Its frequencies use a one-point mass matrix (ρV/16 in every entry of a tet),
so lilyan's stiffness meets that mass in SciPy. CalculiX prints seven digits. Without CalculiX (Debian:
calculix-ccx) the corner is still compared with what CalculiX 2.20 gave (README of the public mesh set).
"""

import shutil
import subprocess

import common
from common import Skip, check, np

E, NU, RHO, G = 1e5, 0.3, 1.0, 10.0
CORNER = [10, 10, 50]
KNOWN = {"linear": (-0.237042, -33.415845, 4.331598), "stvk": (-0.209316, -32.046134, -1.651192)}


def main():
    mesh = common.public_mesh("polyfem/square_beam.mesh")
    if mesh is None:
        raise Skip("the public mesh set is not here")
    ccx = shutil.which("ccx")
    body = common.tets_of(mesh)
    for model, steps in (("linear", 5), ("stvk", 5)):
        material = {"model": model, "E": E, "nu": NU, "rho": RHO}
        scene = common.one_body(
            mesh, material, step=1e4, end=1e4 * steps, integrator="backward-euler", options={"tolerance": 1e-12},
            fields=["displacement"], environment={"gravity": [0, -G, 0]}, pin=[{"where": "z < -49.999"}])
        u = common.run(scene).frame(-1).point["displacement"]
        corner = np.abs(body.points - CORNER).sum(axis=1).argmin()
        check(f"{model}: corner of the hanging beam, known displacement (m)",
              np.abs(u[corner] - KNOWN[model]).max(), 1e-6)
        what = f"{model}: all displacements of the hanging beam, of the largest"
        if ccx is None:
            common.skip(what, "CalculiX (ccx) is not installed")
            continue
        step = "*STEP, NLGEOM\n*STATIC\n0.1, 1., 1e-6, 0.2" if model == "stvk" else "*STEP\n*STATIC"
        step += "\n*CONTROLS, PARAMETERS=FIELD\n1e-9, 1e-9" if model == "stvk" else ""
        step += f"\n*DLOAD\nEALL, GRAV, {G}, 0., -1., 0.\n*NODE PRINT, NSET=NALL\nU\n*END STEP"
        judge = displacements(solve(ccx, body, step), len(body.points))
        check(what, common.off(u, judge), 1e-6)

    what = "first ten frequencies, one-point mass"
    if ccx is None:
        common.skip(what, "CalculiX (ccx) is not installed")
        return
    common.need("scipy")
    from scipy.sparse.linalg import eigsh
    output = solve(ccx, body, "*STEP\n*FREQUENCY\n10\n*END STEP")
    judge = frequencies(output)[:10]
    found = common.modes(scene, 1, matrices=True)
    free = found.free
    K, M = found.K[free][:, free].tocsc(), one_point_mass(body)[free][:, free].tocsc()
    values = np.sort(eigsh(K, 10, M, sigma=0.0, tol=1e-13)[0])
    check(what, common.off(np.sqrt(values) / (2 * np.pi) / judge, np.ones(10)), 1e-6)


def solve(ccx, body, step):
    """Runs CalculiX; what it prints."""
    directory = common.folder()
    # VTU and C3D4 number the corners of a tet alike. CalculiX reads 20 characters of a number.
    lines = ["*NODE, NSET=NALL"]
    lines += [f"{i + 1}, " + ", ".join(f"{c:.12e}" for c in p) for i, p in enumerate(body.points)]
    lines += ["*ELEMENT, TYPE=C3D4, ELSET=EALL"]
    lines += [f"{i + 1}, " + ", ".join(str(v + 1) for v in t) for i, t in enumerate(body.tets)]
    lines += ["*BOUNDARY"] + [f"{i + 1}, 1, 3" for i in np.flatnonzero(body.points[:, 2] < -49.999)]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", f"{E}, {NU}", "*DENSITY", f"{RHO}",
              "*SOLID SECTION, ELSET=EALL, MATERIAL=M", step]
    (directory / "job.inp").write_text("\n".join(lines) + "\n")
    done = subprocess.run([ccx, "-i", "job"], cwd=directory, capture_output=True, text=True)
    if done.returncode or "*ERROR" in done.stdout:
        raise RuntimeError("CalculiX: " + done.stdout[-400:])
    return (directory / "job.dat").read_text()


def displacements(output, count):
    """Those of the last increment."""
    rows = [r.split() for r in output.rsplit("displacements", 1)[1].splitlines()]
    table = np.array([[float(c) for c in r] for r in rows if len(r) == 4 and r[0].isdigit()])
    if len(table) != count or "time  0.1000000E+01" not in output:
        raise RuntimeError("CalculiX did not reach the end of the step")
    return table[np.argsort(table[:, 0]), 1:]


def frequencies(output):
    rows = [r.split() for r in output.split("P A R T I C I P A T I O N")[0].splitlines()]
    return np.array([float(r[3]) for r in rows if len(r) == 5 and r[0].isdigit()])


def one_point_mass(body):
    import scipy.sparse
    a, b, c, d = (body.points[body.tets[:, k]] for k in range(4))
    volume = np.abs(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)) / 6
    rows = np.repeat(body.tets, 4, axis=1).ravel()
    columns = np.tile(body.tets, (1, 4)).ravel()
    scalar = scipy.sparse.coo_matrix((np.repeat(RHO * volume / 16, 16), (rows, columns)))
    return scipy.sparse.kron(scalar, np.eye(3)).tocsr()


common.start(main)
