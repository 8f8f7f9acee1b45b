"""NGSolve on the common beam: symbolic energy, Newton, its own sparse Cholesky (or PARDISO where it was built with it)."""

import common
import netgen.meshing as nm
import ngsolve as ng
import numpy as np


def prepare(points, tets):
    mesh = nm.Mesh(dim=3)
    numbers = [mesh.Add(nm.MeshPoint(nm.Pnt(*p))) for p in points]
    mesh.Add(nm.FaceDescriptor(surfnr=1, domin=1, bc=1))
    for tet in tets:
        mesh.Add(nm.Element3D(1, [numbers[i] for i in tet]))
    space = ng.VectorH1(ng.Mesh(mesh), order=1)
    free = ng.BitArray(space.FreeDofs())
    count = len(points)
    for i in np.flatnonzero(points[:, 0] == 0):
        for axis in range(3):
            free.Clear(int(axis * count + i))
    u, before, velocity = (ng.GridFunction(space) for _ in range(3))
    trial = space.TrialFunction()
    F = ng.Id(3) + ng.Grad(trial)
    J = ng.Det(F)
    psi = common.MU / 2 * (ng.InnerProduct(F, F) - 3 - 2 * ng.log(J)) + common.LAMBDA / 2 * ng.log(J) ** 2
    away = trial - before - common.H * velocity
    form = ng.BilinearForm(space, symmetric=True)
    form += ng.Variation((common.RHO / (2 * common.H**2) * ng.InnerProduct(away, away) + psi) * ng.dx)
    form += ng.Variation(-common.RHO * common.G * trial[1] * ng.dx)
    residual, correction = u.vec.CreateVector(), u.vec.CreateVector()
    mask = np.array([free[i] for i in range(space.ndof)])
    tip = np.flatnonzero(points[:, 0] == 4) + count

    def step():
        before.vec.data = u.vec
        u.vec.data += common.H * velocity.vec
        first, k = None, 0
        while True:
            form.Apply(u.vec, residual)
            size = np.linalg.norm(residual.FV().NumPy()[mask])
            first = first or size
            if size <= common.TOLERANCE * first:
                break
            form.AssembleLinearization(u.vec)
            correction.data = form.mat.Inverse(free, inverse="sparsecholesky") * residual
            u.vec.data -= correction
            k += 1
        velocity.vec.data = (1 / common.H) * (u.vec - before.vec)
        return k

    return step, lambda: u.vec.FV().NumPy()[tip].mean()


if __name__ == "__main__":
    ng.SetNumThreads(1)
    common.main("NGSolve", ng.__version__, "sparse Cholesky, 1 thread", prepare)
