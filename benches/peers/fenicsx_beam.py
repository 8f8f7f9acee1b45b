"""FEniCSx on the common beam: compiled UFL forms, conjugate gradients of PETSc with its incomplete Cholesky factor."""

import common
import dolfinx
import numpy as np
import ufl
from dolfinx import fem
from mpi4py import MPI
from petsc4py import PETSc

FORMS = {"cffi_extra_compile_args": ["-O3", "-march=native"]}


def prepare(points, tets):
    element = ufl.VectorElement("Lagrange", ufl.tetrahedron, 1)
    mesh = dolfinx.mesh.create_mesh(MPI.COMM_SELF, tets, points, ufl.Mesh(element))
    space = fem.VectorFunctionSpace(mesh, ("Lagrange", 1))
    u, ballistic = fem.Function(space), fem.Function(space)
    trial, test = ufl.TrialFunction(space), ufl.TestFunction(space)
    F = ufl.variable(ufl.Identity(3) + ufl.grad(u))
    J = ufl.det(F)
    psi = common.MU / 2 * (ufl.tr(F.T * F) - 3 - 2 * ufl.ln(J)) + common.LAMBDA / 2 * ufl.ln(J) ** 2
    P = ufl.diff(psi, F)
    inertia = common.RHO / common.H**2 * ufl.inner(u - ballistic, test) * ufl.dx(metadata={"quadrature_degree": 2})
    once = ufl.dx(metadata={"quadrature_degree": 1})
    residual = inertia + ufl.inner(P, ufl.grad(test)) * once - common.RHO * common.G * test[1] * once
    tangent = fem.form(ufl.derivative(residual, u, trial), jit_params=FORMS)
    residual = fem.form(residual, jit_params=FORMS)
    at = space.tabulate_dof_coordinates()
    held = fem.dirichletbc(np.zeros(3), np.flatnonzero(at[:, 0] < 1e-9).astype(np.int32), space)
    free, tip = np.repeat(at[:, 0] >= 1e-9, 3), 3 * np.flatnonzero(at[:, 0] > 4 - 1e-9) + 1
    A, b = fem.petsc.create_matrix(tangent), fem.petsc.create_vector(residual)
    A.setOption(PETSc.Mat.Option.SPD, True)
    correction = b.duplicate()
    solver = PETSc.KSP().create(MPI.COMM_SELF)
    solver.setOperators(A)
    solver.setType("cg")
    solver.getPC().setType("icc")
    solver.setTolerances(rtol=common.INNER)
    v = np.zeros(len(free))

    def gradient(x):
        with b.localForm() as local:
            local.set(0)
        fem.petsc.assemble_vector(b, residual)
        return b.array * free

    def correct(x, g):
        A.zeroEntries()
        fem.petsc.assemble_matrix(A, tangent, bcs=[held])
        A.assemble()
        b.array[:] = g
        solver.solve(b, correction)
        return correction.array

    def step():
        nonlocal v
        before = u.x.array.copy()
        u.x.array[:] += common.H * v
        ballistic.x.array[:] = u.x.array
        k = common.newton(u.x.array, gradient, correct)
        v = (u.x.array - before) / common.H
        return k

    return step, lambda: u.x.array[tip].mean()


if __name__ == "__main__":
    common.main("FEniCSx", dolfinx.__version__, "PETSc: CG, ICC(0)", prepare)
