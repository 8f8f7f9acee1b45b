"""Frequencies of `lilyan modes` equal SciPy's for the same matrices.

SciPy's eigsh (ARPACK, shift-invert with SuperLU) gets K and M as `modes --matrices` writes them, without
the unknowns that are held. Clamped and free, lumped and consistent mass, soft and stiff layers; and the
matrices themselves are judged by what they must be: symmetric, K without force for rigid motion, M with the
mass of the body.
"""

import common
from common import check, np


def main():
    common.need("scipy")
    from scipy.sparse.linalg import eigsh

    for clamped in (True, False):
        for mass in ("lumped", "consistent"):
            material = {"model": "neo-hookean", "E": 1e6, "nu": 0.3, "rho": 1000}
            keys = {"pin": [{"where": {"box": {"min": [-0.01, -1, -1], "max": [0.01, 2, 2]}}}]} if clamped else {}
            scene = common.one_body(common.box([4, 1, 0.8], [16, 4, 3]), material, mass=mass, **keys)
            compare(eigsh, f"{'clamped' if clamped else 'free'} bar, {mass} mass", scene, clamped)
    compare(eigsh, "built-in heterogeneous-bar", "heterogeneous-bar", True)


def compare(eigsh, name, scene, clamped):
    found = common.modes(scene, 10, matrices=True)
    K, M, free = found.K, found.M, found.free
    shift = 0.0 if clamped else -1.0
    values = np.sort(eigsh(K[free][:, free].tocsc(), 10, M[free][:, free].tocsc(), sigma=shift, tol=1e-13)[0])
    zero = 0 if clamped else 6
    # Frequencies are square roots: half the error of the eigenvalue.
    error = np.abs(np.sqrt(found.eigenvalues[zero:] / values[zero:]) - 1).max()
    check(f"{name}: {'first ten' if clamped else 'elastic'} frequencies", error, 1e-8)
    if not clamped:
        check(f"{name}: six zero eigenvalues, of the first elastic one",
              np.abs(found.eigenvalues[:6]).max() / values[6], 1e-9)
        # Translations and turns: K r = 0, and M has the mass of the body.
        n = K.shape[0] // 3
        x = common.tets_of(scene["body"][0]["mesh"]).points
        rigid = [np.tile(e, n) for e in np.eye(3)] + [np.cross(e, x).ravel() for e in np.eye(3)]
        force = max(np.abs(K @ r).max() / np.abs(r).max() for r in rigid)
        check(f"{name}: force of a rigid motion, of the largest stiffness", force / abs(K).max(), 1e-12)
        check(f"{name}: mass", abs(rigid[0] @ (M @ rigid[0]) / 3200 - 1), 1e-12)


common.start(main)
