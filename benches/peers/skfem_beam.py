"""scikit-fem on the common beam: its assembly, conjugate gradients of SciPy with the diagonal."""

import common
import numpy as np
import scipy.sparse.linalg as sl
import skfem
from skfem.helpers import ddot, grad, identity, inv, det, mul, trace, transpose


@skfem.BilinearForm
def tangent(u, v, w):
    F = grad(w["u"]) + identity(w["u"])
    inverse, log = inv(F), np.log(det(F))
    a, b = mul(inverse, grad(u)), mul(inverse, grad(v))
    return (common.MU * ddot(grad(u), grad(v)) + (common.MU - common.LAMBDA * log) * ddot(a, transpose(b))
            + common.LAMBDA * trace(a) * trace(b))


@skfem.LinearForm
def force(v, w):
    F = grad(w["u"]) + identity(w["u"])
    inverse, log = inv(F), np.log(det(F))
    return (common.MU * ddot(F, grad(v)) + (common.LAMBDA * log - common.MU) * trace(mul(inverse, grad(v)))
            - common.RHO * common.G * v[1])


@skfem.BilinearForm
def mass(u, v, w):
    return common.RHO * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])


def prepare(points, tets):
    mesh = skfem.MeshTet(points.T.copy(), tets.T.copy())
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=1)
    M = mass.assemble(skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=2)) / common.H**2
    held = basis.nodal_dofs[:, points[:, 0] == 0].ravel()
    free = np.setdiff1d(np.arange(basis.N), held)
    tip = basis.nodal_dofs[1, points[:, 0] == 4]
    state = {"u": np.zeros(basis.N), "v": np.zeros(basis.N)}

    def step():
        before = state["u"]
        u = before + common.H * state["v"]
        ballistic = u.copy()

        def gradient(u):
            residual = M @ (u - ballistic) + force.assemble(basis, u=basis.interpolate(u))
            residual[held] = 0
            return residual

        def correct(u, g):
            A = (M + tangent.assemble(basis, u=basis.interpolate(u))).tocsr()[free][:, free]
            diagonal = 1 / A.diagonal()
            jacobi = sl.LinearOperator(A.shape, lambda x: diagonal * x)
            correction = np.zeros(basis.N)
            correction[free], _ = sl.cg(A, g[free], rtol=common.INNER, M=jacobi)
            return correction

        k = common.newton(u, gradient, correct)
        state["u"], state["v"] = u, (u - before) / common.H
        return k

    return step, lambda: state["u"][tip].mean()


if __name__ == "__main__":
    common.main("scikit-fem", skfem.__version__, "CG with the diagonal", prepare)
