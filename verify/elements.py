"""Quadratic tets give the known answers of beams, membranes, plates and cubes, and those of CalculiX and MFEM.

References: the steel cantilever and the free cubes extrapolated from elements of order 2 of two shapes (40.789 Hz; 0.2822 and
0.262599 Hz); PolyFEM's bar from its own series (0.0256 Hz); Cook's membrane in plane strain from three formulations that come from
both sides (7.766 at ν = 0.4999, 7.84 at ν = 0.49). NAFEMS FV32 (tapered membrane) with the frequencies of CalculiX's and Abaqus' C3D10;
NAFEMS LE10 (thick plate), σ_yy at D = −5.38 MPa, here at the node, from a mesh of hexahedra with 20 nodes that the reader splits.
CalculiX (C3D10) and MFEM (order 2, the same four points) get the nodes and tets that lilyan wrote.
"""

import shutil
import subprocess

import common
from common import LONG, Skip, check, np

# The edges of the nodes after the corners, as VTK, Abaqus and CalculiX number them.
EDGES = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
FV32 = [44.620, 130.020, 162.693, 246.006, 379.758, 391.413]


def main():
    for part in (beams, cubes, cook, tapered_membrane, thick_plate, calculix, mfem):
        try:
            part()
        except Skip as reason:
            common.skip(part.__name__.replace("_", " "), str(reason))


def quadratic(mesh, material, **keys):
    # An implicit method, as explicit ones lump the mass.
    return common.one_body(mesh, {"model": "linear", "rho": 1.0} | material, element="quadratic",
                           **{"step": 1e-9, "integrator": "energy-momentum"} | keys)


def unknowns(scene):
    return f"{3 * len(common.run(scene).frame(0).points):,} unknowns"


# ── Known answers ────────────────────────────────────────────────────────────


def beams():
    steel = {"E": 200e9, "nu": 0.3, "rho": 7850}
    for cells in ([10, 1, 1], [20, 2, 2]):
        scene = quadratic(common.box([1, 0.05, 0.05], cells), steel, pin=[{"where": "x < 1e-6"}])
        first = common.modes(scene, 2).frequencies
        name = f"steel cantilever, {cells[1]} thick, {unknowns(scene)}: {first[0]:.3f} Hz of 40.789"
        check(name, first[0] / 40.789 - 1, 0.015 if cells[1] == 1 else 0.005)
        if cells[1] == 2:
            check("the same: its second mode, across, from the first", first[1] / first[0] - 1, 1e-6)
    for tets in (186, 651):
        mesh = common.public_mesh(f"polyfem/bar-{tets}.msh")
        if mesh is None:
            common.skip(f"PolyFEM's bar of {tets} tets", "the public mesh set is not here")
            continue
        low = common.tets_of(mesh).points[:, 0].min()
        scene = quadratic(mesh, {"E": 1e6, "nu": 0.3, "rho": 1000}, pin=[{"where": f"x < {low + 1e-6}"}])
        first = common.modes(scene, 1).frequencies[0]
        check(f"PolyFEM's bar of {tets} tets: {first:.5f} Hz of 0.0256", first / 0.0256 - 1, 0.02)


def cubes():
    cells = 6 if LONG else 4
    for nu, known, allowed in ((0.3, 0.2822, 0.005), (0.499, 0.262599, 0.01)):
        first = common.modes(quadratic(common.box([1, 1, 1], [cells] * 3), {"E": 1, "nu": nu}), 7).frequencies[6]
        check(f"free cube, nu {nu}, {cells} cells per edge: {first:.6f} Hz of {known}", first / known - 1, allowed)


def cook():
    """The membrane with corners (0,0) (48,44) (48,60) (0,44), clamped at x = 0, sheared at x = 48: a box of lilyan's, bent."""
    body = common.run(quadratic(common.box([1, 1, 1], [8, 8, 1]), {"E": 1e6, "nu": 0.3})).frame(0)
    a, b, c = body.points.T
    points = np.stack([48 * a, 44 * a + b * (44 - 28 * a), c], axis=1)
    for k, ends in enumerate(EDGES):
        points[body.tets[:, 4 + k]] = points[body.tets[:, list(ends)]].mean(axis=1)
    for nu, known in ((0.4999, 7.766), (0.49, 7.84)):
        scene = quadratic(
            inp("cook", points, body.tets, "C3D10"), {"E": 250, "nu": nu},
            pin=[{"where": "x < 1e-6"}, {"where": "z < 1e-6", "axes": ["z"]}, {"where": "z > 0.999999", "axes": ["z"]}],
            load=[{"where": "x > 47.999999", "traction": [0, 6.25, 0]}],
            probe=[{"at": [48, 60, 0]}])
        found = common.rest(scene)
        rise = found.report["probes"][0]["at"][1] - 60
        # All but those on x = 0, and without z on both sides.
        middle = np.abs(points[:, 2] - 0.5) < 1e-6
        free = np.sum((points[:, 0] > 1e-6) * np.where(middle, 3, 2))
        check(f"Cook's membrane, nu {nu}, {free:,} unknowns: {rise:.3f} of {known}", rise / known - 1, 0.01)
    # One layer of nearly incompressible tets bends as it should.
    scene = quadratic(common.box([1, 0.05, 0.05], [10, 1, 1]), {"E": 200e9, "nu": 0.49, "rho": 7850}, pin=[{"where": "x < 1e-6"}])
    first = common.modes(scene, 1).frequencies[0]
    check(f"the steel cantilever with nu 0.49, 1 thick: {first:.3f} Hz of 40.8", first / 40.8 - 1, 0.05)


def tapered_membrane():
    """10 m long, 5 m wide at the clamped end and 1 m at the other, half of 0.05 m thick, which slides on its middle plane."""
    half = 0.025
    points, cells = grid(lambda a, b, c: [10 * a, (b - 0.5) * (5 - 4 * a), half * c], (32, 16, 1), 1)
    scene = quadratic(inp("fv32", points, cells, "C3D8"), {"E": 200e9, "nu": 0.3, "rho": 8000},
                      pin=[{"where": "x < 1e-6"}, {"where": "z < 1e-6", "axes": ["z"]}])
    found = common.modes(scene, 6).frequencies
    check(f"NAFEMS FV32, six frequencies, {', '.join(f'{f:.3f}' for f in found)} Hz, of C3D10",
          common.off(found / FV32, np.ones(6)), 1e-3)


def thick_plate():
    """A quarter of an elliptic ring, 0.6 m thick, 1 MPa on top; the outer wall is held, its middle line vertically too."""
    def place(a, b, c):
        angle = 0.5 * np.pi * a
        return [(2 + 1.25 * b) * np.cos(angle), (1 + 1.75 * b) * np.sin(angle), 0.6 * c]

    split = (12, 8, 4) if LONG else (8, 6, 2)
    points, cells = grid(place, split, 2)
    outside = "(x/3.25)^2 + (y/2.75)^2 > 0.999"
    scene = quadratic(
        inp("le10", points, cells, "C3D20"), {"E": 210e9, "nu": 0.3, "rho": 7800},
        pin=[{"where": "x < 1e-6", "axes": ["x"]}, {"where": "y < 1e-6", "axes": ["y"]},
             {"where": outside, "axes": ["x", "y"]},
             {"where": f"({outside}) * (abs(z - 0.3) < 1e-6)", "axes": ["z"]}],
        load=[{"where": "z > 0.599999", "traction": [0, 0, -1e6]}])
    frame = common.rest(scene).frame
    node = np.abs(common.at_rest(frame) - [2, 0, 0.6]).sum(axis=1).argmin()
    stress = frame.point["nodal_stress"][node].reshape(3, 3)[1, 1] / 1e6
    check(f"NAFEMS LE10, {len(frame.tets)} tets from {len(cells)} hexahedra: stress yy at D, {stress:.3f} MPa of -5.38",
          stress / -5.38 - 1, 0.03)


def grid(place, split, order):
    """Nodes and hexahedra (VTK and Abaqus number them alike) of a box of cells, with nodes on the edges if the order is 2."""
    n = [order * k + 1 for k in split]
    number = lambda i, j, k: (i * n[1] + j) * n[2] + k
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    at = [[order * x for x in c] for c in corners]
    if order == 2:
        at += [[(at[a][x] + at[b][x]) // 2 for x in range(3)] for a, b in edges]
    cells = [[number(order * i + a, order * j + b, order * k + c) for a, b, c in at]
             for i in range(split[0]) for j in range(split[1]) for k in range(split[2])]
    points = np.array([place(i / (n[0] - 1), j / (n[1] - 1), k / (n[2] - 1))
                       for i in range(n[0]) for j in range(n[1]) for k in range(n[2])])
    used = np.unique(cells)
    renumbered = np.searchsorted(used, cells)
    points = points[used]
    # Outward, so that no reader has to turn them.
    a, b, d, e = (points[renumbered[0, k]] for k in (0, 1, 3, 4))
    if np.dot(np.cross(b - a, d - a), e - a) < 0:
        turned = [4, 5, 6, 7, 0, 1, 2, 3] + ([12, 13, 14, 15, 8, 9, 10, 11, 16, 17, 18, 19] if order == 2 else [])
        renumbered = renumbered[:, turned]
    return points, renumbered


def inp(name, points, cells, kind):
    """A mesh file of Abaqus."""
    path = common.folder() / f"{name}.inp"
    path.write_text("\n".join(abaqus(points, cells, kind)) + "\n")
    return {"file": str(path)}


def abaqus(points, cells, kind):
    lines = ["*NODE, NSET=NALL"]
    lines += [f"{i + 1}, " + ", ".join(f"{c:.13e}" for c in p) for i, p in enumerate(points)]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=EALL"]
    for i, cell in enumerate(cells):
        numbers = [str(n + 1) for n in cell]
        # At most sixteen numbers stand on a line.
        lines += [f"{i + 1}, " + ", ".join(numbers[:10]) + ("," if len(numbers) > 10 else "")]
        lines += [", ".join(numbers[10:])] if len(numbers) > 10 else []
    return lines


# ── Other programs ───────────────────────────────────────────────────────────


def calculix():
    """Stiffness and mass that CalculiX stores, and the frequencies of both; displacements under gravity."""
    ccx = shutil.which("ccx")
    if ccx is None:
        raise Skip("CalculiX (ccx) is not installed")
    common.need("scipy")
    mesh = common.public_mesh("polyfem/bar-186.msh")
    if mesh is None:
        raise Skip("the public mesh set is not here")
    material = {"E": 1e6, "nu": 0.3, "rho": 1000}
    body = common.run(quadratic(mesh, material)).frame(0)
    low = body.points[:, 0].min()
    held = np.flatnonzero(body.points[:, 0] < low + 1e-6)
    clamped = {"pin": [{"where": f"x < {low + 1e-6}"}]}

    u, _ = solve(ccx, body, material, held, "*STEP\n*STATIC\n*DLOAD\nEALL, GRAV, 0.01, 0., -1., 0.\n*NODE PRINT, NSET=NALL\nU")
    frame = common.rest(quadratic(mesh, material, environment={"gravity": [0, -0.01, 0]}, **clamped)).frame
    check("CalculiX C3D10: displacements under gravity, of the largest", common.off(frame.point["displacement"], u), 1e-6)

    _, judge = solve(ccx, body, material, held, "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n6")
    found = common.modes(quadratic(mesh, material, **clamped), 6, matrices=True)
    free = np.repeat(~np.isin(np.arange(len(body.points)), held), 3)
    K, M = (A[free][:, free].tocsr() for A in (found.K, found.M))
    check("CalculiX C3D10: stiffness matrix, of the largest entry", abs(judge[0] - K).max() / abs(K).max(), 1e-12)
    # CalculiX integrates the mass by the four points of the stiffness, lilyan exactly; the sums over rows and columns are the same.
    four = four_point_mass(body, material["rho"])[free][:, free]
    check("CalculiX C3D10: mass matrix by four points, of the largest entry", abs(judge[1] - four).max() / abs(four).max(), 1e-12)
    from scipy.sparse.linalg import eigsh

    def frequencies(K, M):
        return np.sqrt(np.sort(eigsh(K.tocsc(), 6, M.tocsc(), sigma=0.0, tol=1e-14)[0])) / (2 * np.pi)

    check("CalculiX C3D10: six frequencies, lilyan's stiffness with that mass",
          common.off(frequencies(K, four) / frequencies(*judge), np.ones(6)), 1e-8)
    check("six frequencies by SciPy, of lilyan's own", common.off(frequencies(K, M) / found.frequencies, np.ones(6)), 1e-8)


def four_point_mass(body, rho):
    """The mass of straight tets by the rule of degree 2."""
    import scipy.sparse
    a, d = (5 - 5**0.5) / 20, 1 / 5**0.5
    mass = np.zeros((10, 10))
    for q in range(4):
        at = np.full(4, a)
        at[q] += d
        N = np.concatenate([at * (2 * at - 1), [4 * at[i] * at[j] for i, j in EDGES]])
        mass += 0.25 * np.outer(N, N)
    x = body.points[body.tets[:, :4]]
    volume = np.abs(np.einsum("ij,ij->i", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0])) / 6
    rows, columns = np.repeat(body.tets, 10, axis=1).ravel(), np.tile(body.tets, (1, 10)).ravel()
    scalar = scipy.sparse.coo_matrix(((rho * volume[:, None] * mass.ravel()).ravel(), (rows, columns)))
    return scipy.sparse.kron(scalar, np.eye(3)).tocsr()


def solve(ccx, body, material, held, step):
    """What CalculiX prints for the nodes, or the matrices that it stores, in the order of the unknowns that are free."""
    directory = common.folder()
    lines = abaqus(body.points, body.tets, "C3D10")
    lines += ["*BOUNDARY"] + [f"{i + 1}, 1, 3" for i in held]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", f"{material['E']}, {material['nu']}", "*DENSITY", f"{material['rho']}",
              "*SOLID SECTION, ELSET=EALL, MATERIAL=M", step, "*END STEP"]
    (directory / "job.inp").write_text("\n".join(lines) + "\n")
    done = subprocess.run([ccx, "-i", "job"], cwd=directory, capture_output=True, text=True)
    if done.returncode or "*ERROR" in done.stdout:
        raise RuntimeError("CalculiX: " + done.stdout[-400:])
    if "MATRIXSTORAGE" in step:
        return None, [stored(directory, end) for end in ("sti", "mas")]
    output = (directory / "job.dat").read_text()
    rows = [r.split() for r in output.rsplit("displacements", 1)[1].splitlines()]
    table = np.array([[float(c) for c in r] for r in rows if len(r) == 4 and r[0].isdigit()])
    return table[np.argsort(table[:, 0]), 1:], None


def stored(directory, end):
    """A matrix of which CalculiX stores one half, and the node and axis of each row."""
    from scipy.sparse import coo_matrix, diags
    dofs = [line.strip().split(".") for line in (directory / "job.dof").read_text().split()]
    order = np.lexsort(np.array([[int(axis), int(node)] for node, axis in dofs]).T)
    rows, columns, values = np.loadtxt(directory / f"job.{end}", unpack=True)
    half = coo_matrix((values, (rows.astype(int) - 1, columns.astype(int) - 1)), shape=[len(dofs)] * 2).tocsr()
    whole = half + half.T - diags(half.diagonal())
    return whole.tocsr()[order][:, order]


def mfem():
    """Forces, energy and stiffness of strongly deformed quadratic tets, straight and curved."""
    mfem = common.need("mfem.ser")
    common.need("scipy")
    bent = {"stretch": [1.3, 0.9, 0.8], "twist": {"axis": [1, 0, 0], "degrees": 60}, "rotate": {"axis": [1, 2, 3], "degrees": 40}}
    # A ring of hexahedra with 20 nodes has curved tets.
    def place(a, b, c):
        return [(2 + b) * np.cos(a), (2 + b) * np.sin(a), c]
    meshes = {"box": common.box([4, 1, 1], [4, 1, 1]), "curved ring": inp("ring", *grid(place, (2, 1, 1), 2), "C3D20"),
              "bar-186": common.public_mesh("polyfem/bar-186.msh")}
    for name, mesh in meshes.items():
        if mesh is None:
            common.skip(f"MFEM, {name}", "the public mesh set is not here")
            continue
        material = {"model": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000}
        rest = common.run(quadratic(mesh, material, fields=["displacement"])).frame(0)
        result = common.run(quadratic(mesh, material, step=1e-9, fields=["force", "displacement"], initial=bent))
        frame = result.frame(0)
        W, force, K = judge(mfem, rest, frame.points)
        found = common.modes(quadratic(mesh, material), 1, matrices=True, at=result.frame_paths()[0])
        what = f"MFEM order 2, {name} ({len(rest.tets)} tets)"
        check(f"{what}: nodal forces", common.off(frame.point["force"], force), 1e-12)
        check(f"{what}: energy", abs(result.energy["elastic"][0] - W) / W, 1e-12)
        check(f"{what}: stiffness matrix", abs(found.K - K).max() / abs(K).max(), 1e-12)


def judge(mfem, rest, positions):
    """MFEM's energy, nodal forces and stiffness, in lilyan's order of nodes, by the rule of four points."""
    import scipy.sparse
    from scipy.spatial import cKDTree
    _, mu, kappa = common.constants(1e5, 0.3)
    corners = np.unique(rest.tets[:, :4])
    number = {n: i for i, n in enumerate(corners)}
    mesh = mfem.Mesh(3, len(corners), len(rest.tets), 0, 3)
    for n in corners:
        mesh.AddVertex(*map(float, rest.points[n]))
    for t in rest.tets:
        mesh.AddTet(*(number[n] for n in t[:4]))
    mesh.FinalizeTetMesh(1, 0, False)
    mesh.SetCurvature(2, False, 3, mfem.Ordering.byVDIM)
    places = mesh.GetNodes()
    # Straight nodes tell which is which; then they go where they are.
    straight = rest.points.copy()
    for k, (a, b) in enumerate(EDGES):
        straight[rest.tets[:, 4 + k]] = 0.5 * (rest.points[rest.tets[:, a]] + rest.points[rest.tets[:, b]])
    distance, own = cKDTree(straight).query(places.GetDataArray().reshape(-1, 3))
    assert distance.max() < 1e-9 and len(np.unique(own)) == len(straight)
    places.GetDataArray()[:] = rest.points[own].ravel()
    collection = mfem.H1_FECollection(2, 3)
    space = mfem.FiniteElementSpace(mesh, collection, 3, mfem.Ordering.byVDIM)
    form = mfem.NonlinearForm(space)
    model = mfem.NeoHookeanModel(mu, kappa)
    integrator = mfem.HyperelasticNLFIntegrator(model)
    integrator.SetIntRule(mfem.IntRules.Get(mfem.Geometry.TETRAHEDRON, 2))
    form.AddDomainIntegrator(integrator)
    x, gradient = mfem.Vector(positions[own].ravel().copy()), mfem.Vector(positions.size)
    form.Mult(x, gradient)
    K = mfem.Opr2SparseMat(form.GetGradient(x))
    K = scipy.sparse.csr_matrix((K.GetDataArray().copy(), K.GetJArray().copy(), K.GetIArray().copy()))
    energy, back = form.GetEnergy(x), np.argsort(own)
    unknowns = (3 * back[:, None] + np.arange(3)).ravel()
    return energy, -gradient.GetDataArray().reshape(-1, 3)[back], K[unknowns][:, unknowns]


if __name__ == "__main__":
    common.start(main)
