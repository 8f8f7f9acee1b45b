"""MFEM on the common beam: its neo-Hookean model, its conjugate gradients with its Gauss-Seidel smoother.

NeoHookeanModel(mu, K) is μ/2 (J^(-2/3) tr C − 3) + K/2 (J − 1)²: not the common one, but lilyan's "neo-hookean".
"""

import importlib.metadata

import common
import mfem.ser as mfem
import numpy as np


def prepare(points, tets):
    mesh = mfem.Mesh(3, len(points), len(tets), 0, 3)
    for p in points:
        mesh.AddVertex(*map(float, p))
    for t in tets:
        mesh.AddTet(*map(int, t))
    mesh.FinalizeTetMesh(0, 0, False)
    elements = mfem.H1_FECollection(1, 3)
    space = mfem.FiniteElementSpace(mesh, elements, 3, mfem.Ordering.byVDIM)
    held = mfem.intArray((3 * np.flatnonzero(points[:, 0] == 0)[:, None] + np.arange(3)).ravel().tolist())
    masses = mfem.BilinearForm(space)
    density = mfem.ConstantCoefficient(common.RHO / common.H**2)
    masses.AddDomainIntegrator(mfem.VectorMassIntegrator(density))
    masses.Assemble()
    masses.Finalize()
    M = masses.SpMat()
    weight = mfem.Vector(3 * len(points))
    accelerated = mfem.Vector(np.tile([0, common.G * common.H**2, 0], len(points)))
    M.Mult(accelerated, weight)
    for i in held.ToList():
        M.EliminateRowCol(i, mfem.Operator.DIAG_ZERO)
    model = mfem.NeoHookeanModel(common.MU, common.E / (3 * (1 - 2 * common.NU)))
    form = mfem.NonlinearForm(space)
    integrator = mfem.HyperelasticNLFIntegrator(model)
    integrator.SetIntRule(mfem.IntRules.Get(mfem.Geometry.TETRAHEDRON, 1))
    form.AddDomainIntegrator(integrator)
    form.SetEssentialTrueDofs(held)

    rest = points.ravel()
    fixed = np.array(held.ToList())
    x, v = rest.copy(), np.zeros_like(rest)
    g, away, correction = (mfem.Vector(len(rest)) for _ in range(3))

    def step(alive=(mesh, elements, space, density, masses, model)):  # MFEM points at these, and owns none of them
        nonlocal x, v
        before = x.copy()
        x += common.H * v
        ballistic = x.copy()

        def gradient(x):
            form.Mult(mfem.Vector(x), g)
            M.Mult(mfem.Vector(x - ballistic), away)
            sum = g.GetDataArray() + away.GetDataArray() - weight.GetDataArray()
            sum[fixed] = 0
            return sum

        def correct(x, g):
            A = mfem.Add(1.0, mfem.Opr2SparseMat(form.GetGradient(mfem.Vector(x))), 1.0, M)
            smoother, cg = mfem.GSSmoother(A), mfem.CGSolver()
            cg.SetRelTol(common.INNER)
            cg.SetMaxIter(1000)
            cg.SetOperator(A)
            cg.SetPreconditioner(smoother)
            correction.Assign(0.0)
            cg.Mult(mfem.Vector(g), correction)
            return correction.GetDataArray()

        k = common.newton(x, gradient, correct)
        v = (x - before) / common.H
        return k

    return step, lambda: (x - rest).reshape(-1, 3)[points[:, 0] == 4, 1].mean()


if __name__ == "__main__":
    common.main("MFEM", importlib.metadata.version("mfem"), "CG, Gauss-Seidel", prepare,
                material="neo-hookean")
