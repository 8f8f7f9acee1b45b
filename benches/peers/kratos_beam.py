"""Kratos on the common beam: total Lagrangian tets, its BDF1 scheme, its Newton strategy, its conjugate gradients."""

import importlib.metadata
import json

import common
import KratosMultiphysics as Kratos
import KratosMultiphysics.ConstitutiveLawsApplication as Laws
import KratosMultiphysics.StructuralMechanicsApplication as Structural
import numpy as np
from KratosMultiphysics.python_linear_solver_factory import ConstructSolver

LINEAR = {"solver_type": "amgcl", "smoother_type": "ilu0", "krylov_type": "cg", "coarsening_type": "aggregation",
          "tolerance": common.INNER, "max_iteration": 1000, "block_size": 3, "use_block_matrices_if_possible": True,
          "verbosity": 0}


def prepare(points, tets):
    Kratos.Logger.GetDefaultOutput().SetSeverity(Kratos.Logger.Severity.WARNING)
    model = Kratos.Model()
    part = model.CreateModelPart("beam")
    part.SetBufferSize(2)
    part.ProcessInfo[Kratos.DOMAIN_SIZE] = 3
    for variable in (Kratos.DISPLACEMENT, Kratos.VELOCITY, Kratos.ACCELERATION, Kratos.REACTION,
                     Kratos.VOLUME_ACCELERATION):
        part.AddNodalSolutionStepVariable(variable)
    material = part.CreateNewProperties(1)
    material[Kratos.YOUNG_MODULUS], material[Kratos.POISSON_RATIO] = common.E, common.NU
    material[Kratos.DENSITY] = common.RHO
    material[Kratos.CONSTITUTIVE_LAW] = Laws.HyperElastic3DLaw()
    for i, p in enumerate(points):
        part.CreateNewNode(i + 1, *map(float, p))
    for i, t in enumerate(tets):
        part.CreateNewElement("TotalLagrangianElement3D4N", i + 1, [int(k) + 1 for k in t], material)
    for axis in "XYZ":
        Kratos.VariableUtils().AddDof(*(getattr(Kratos, f"{name}_{axis}") for name in ("DISPLACEMENT", "REACTION")), part)
    for node in part.Nodes:
        node.SetSolutionStepValue(Kratos.VOLUME_ACCELERATION, [0, common.G, 0])
        node.SetSolutionStepValue(Kratos.VOLUME_ACCELERATION, 1, [0, common.G, 0])
        if node.X0 == 0:
            for axis in (Kratos.DISPLACEMENT_X, Kratos.DISPLACEMENT_Y, Kratos.DISPLACEMENT_Z):
                node.Fix(axis)
    tip = [node for node in part.Nodes if node.X0 == 4]
    linear = ConstructSolver(Kratos.Parameters(json.dumps(LINEAR)))
    scheme = Kratos.ResidualBasedBDFDisplacementScheme(1)
    criterion = Kratos.ResidualCriteria(common.TOLERANCE, 0.0)
    builder = Kratos.ResidualBasedBlockBuilderAndSolver(linear)
    strategy = Kratos.ResidualBasedNewtonRaphsonStrategy(part, scheme, criterion, builder, 50, False, False, True)
    strategy.SetEchoLevel(0)
    criterion.SetEchoLevel(0)
    part.ProcessInfo[Kratos.STEP] = 0
    time = 0.0

    def step():
        nonlocal time
        time += common.H
        part.ProcessInfo[Kratos.STEP] += 1
        part.CloneTimeStep(time)
        strategy.Initialize()
        strategy.InitializeSolutionStep()
        strategy.Predict()
        # By itself it compares with the residual before the prediction: that is the last one of the step before.
        A, b = strategy.GetSystemMatrix(), strategy.GetSystemVector()
        Kratos.UblasSparseSpace().SetToZeroVector(b)
        builder.BuildRHS(scheme, part, b)
        criterion.InitializeSolutionStep(part, builder.GetDofSet(), A, b, b)
        if not strategy.SolveSolutionStep():
            raise RuntimeError("Newton's method does not converge")
        strategy.FinalizeSolutionStep()
        return part.ProcessInfo[Kratos.NL_ITERATION_NUMBER]

    return step, lambda: np.mean([node.GetSolutionStepValue(Kratos.DISPLACEMENT_Y) for node in tip])


if __name__ == "__main__":
    common.main("Kratos", importlib.metadata.version("KratosMultiphysics"), "AMGCL: CG, aggregation, ILU(0)", prepare)
