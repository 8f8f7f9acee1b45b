"""simkit on the common beam: its neo-Hookean energy and its Newton's method, which solves by SciPy's sparse LU."""

import importlib.metadata

import common
import numpy as np
import scipy.sparse as sparse
from simkit.deformation_jacobian import deformation_jacobian
from simkit.energies import neo_hookean as elastic
from simkit.solvers.newton import newton_solver
from simkit.volume import volume


def mass(points, tets):
    """Consistent; simkit's own is lumped."""
    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    blocks = common.RHO * np.linalg.det(edges)[:, None, None] / 120 * (np.eye(4) + 1)
    rows, columns = np.repeat(tets, 4, 1), np.tile(tets, 4)
    M = sparse.coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())))
    return sparse.kron(M, sparse.eye(3)).tocsr()


def prepare(points, tets):
    J, weights = deformation_jacobian(points, tets), volume(points, tets)
    mu, lam = (np.full((len(tets), 1), k) for k in (common.MU, common.LAMBDA))
    M = mass(points, tets) / common.H**2
    pull = M @ np.tile([0, common.G * common.H**2, 0], len(points))[:, None]
    rest = points.reshape(-1, 1)
    free = np.repeat(points[:, 0] > 0, 3)
    S = sparse.eye(len(rest), format="csc")[:, free]  # free unknowns into all
    x, v = rest.copy(), np.zeros_like(rest)

    def step():
        nonlocal x, v
        ballistic = x + common.H * v
        at = lambda y: (ballistic + S @ y).reshape(-1, 3)

        def energy(y):
            away = S @ y
            moved = (away.T @ (M @ away) / 2 - pull.T @ away).item()
            return moved + elastic.neo_hookean_energy_x(at(y), J, mu, lam, weights)

        gradient = lambda y: S.T @ (M @ (S @ y) - pull + elastic.neo_hookean_gradient_x(at(y), J, mu, lam, weights))
        hessian = lambda y: S.T @ (M + elastic.neo_hookean_hessian_x(at(y), J, mu, lam, weights, psd=False)) @ S
        y = np.zeros((S.shape[1], 1))
        first, size, k = np.linalg.norm(gradient(y)), np.inf, 0
        while size > common.TOLERANCE * first:  # its own criterion is the size of the last correction
            y = newton_solver(y, energy, gradient, hessian, max_iter=1)
            size, k = np.linalg.norm(gradient(y)), k + 1
            if k == 50:
                raise RuntimeError("Newton's method does not converge")
        new = ballistic + S @ y
        v, x = (new - x) / common.H, new
        return k

    return step, lambda: (x - rest).reshape(-1, 3)[points[:, 0] == 4, 1].mean()


if __name__ == "__main__":
    common.main("simkit", importlib.metadata.version("simkit"), "SciPy's sparse LU", prepare)
