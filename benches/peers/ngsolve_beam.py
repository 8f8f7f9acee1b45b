"""NGSolve on the common beam: compiled symbolic energy, Newton, its conjugate gradients with its block-Jacobi smoother."""

import common
import netgen.meshing as nm
import ngsolve as ng
import numpy as np
from ngsolve.krylovspace import CGSolver


def prepare(points, tets):
    mesh = nm.Mesh(dim=3)
    numbers = [mesh.Add(nm.MeshPoint(nm.Pnt(*p))) for p in points]
    mesh.Add(nm.FaceDescriptor(surfnr=1, domin=1, bc=1))
    for tet in tets:
        mesh.Add(nm.Element3D(1, [numbers[i] for i in tet]))
    space = ng.VectorH1(ng.Mesh(mesh), order=1)
    count = len(points)
    mask = np.tile(points[:, 0] > 0, 3)
    free = ng.BitArray(mask.tolist())
    u, ballistic = ng.GridFunction(space), ng.GridFunction(space)
    trial = space.TrialFunction()
    F = ng.Id(3) + ng.Grad(trial)
    J = ng.Det(F)
    psi = common.MU / 2 * (ng.InnerProduct(F, F) - 3 - 2 * ng.log(J)) + common.LAMBDA / 2 * ng.log(J) ** 2
    away = trial - ballistic
    kinetic = common.RHO / (2 * common.H**2) * ng.InnerProduct(away, away) - common.RHO * common.G * trial[1]
    once = ng.dx(intrules={ng.ET.TET: ng.IntegrationRule(ng.ET.TET, 1)})
    form = ng.BilinearForm(space, symmetric=True)
    form += ng.Variation(psi.Compile() * once)
    form += ng.Variation(kinetic.Compile() * ng.dx)
    residual, correction = u.vec.CreateVector(), u.vec.CreateVector()
    x, v, tip = u.vec.FV().NumPy(), np.zeros(3 * count), np.flatnonzero(points[:, 0] == 4) + count
    blocks = [[i, i + count, i + 2 * count] for i in range(count)]

    def gradient(x):
        form.Apply(u.vec, residual)
        return residual.FV().NumPy() * mask

    def correct(x, g):
        form.AssembleLinearization(u.vec)
        residual.FV().NumPy()[:] = g
        jacobi = form.mat.CreateBlockSmoother([b for b in blocks if mask[b[0]]])
        correction.data = CGSolver(form.mat, jacobi, tol=common.INNER, maxiter=1000) * residual
        return correction.FV().NumPy()

    def step():
        nonlocal v
        before = x.copy()
        x[:] += common.H * v
        ballistic.vec.data = u.vec
        k = common.newton(x, gradient, correct)
        v = (x - before) / common.H
        return k

    return step, lambda: x[tip].mean()


if __name__ == "__main__":
    ng.SetNumThreads(1)
    common.main("NGSolve", ng.__version__, "CG, 3×3 block Jacobi", prepare)
