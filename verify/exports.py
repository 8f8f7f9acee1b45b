"""What is exported, opened by other programs

Frames as meshio reads them are compared with what other libraries find in the exports: NumPy (npz, pc2, mdd), trimesh (glb, obj,
ply), Pixar's USD (usda), Pillow (png, gif) and ffmpeg's own reader (webm) where it is there.
"""

import struct

import common
from common import check, folder, lilyan, need, np, skip

SCENE = """
title = "Three bodies"
time = { end = 0.2, step = 0.01 }
integrator = "backward-euler"
environment = { gravity = [0, 0, -9.81] }
output = { every = 0.02, fields = ["velocity", "von_mises"] }
[[body]]
name = "ball"
mesh = { sphere = { radius = 0.5, tets = 400 }, translate = [0, 0, 1] }
material = { E = 1e4, nu = 0.3, rho = 1000 }
initial = { angular_velocity = [0, 0, 3] }
[[body]]
name = "bar"
mesh = { box = { size = [2, 0.5, 0.5], cells = [4, 1, 1] }, translate = [1, 0, 1] }
element = "quadratic"
material = { E = 1e4, nu = 0.3, rho = 1000 }
[[body]]
name = "rope"
mesh = { rope = { from = [0, 2, 0], to = [1, 2, 0], segments = 8, radius = 0.01 } }
material = { model = "springs", E = 1e5, rho = 1000 }
[[contact]]
kind = "plane"
model = "penalty"          # the rope starts on it
point = [0, 0, 0]
normal = [0, 0, 1]
"""


def farthest(points, among):
    """The largest distance of a point from the nearest of others."""
    return max(np.linalg.norm(among - p, axis=1).min() for p in points)


def glb(run, frames, body):
    trimesh = need("trimesh")
    path = run / "export" / f"{run.name}.glb"
    lilyan("export", run, "--to", "glb", "--field", "von_mises")
    scene = trimesh.load(path)
    check("glb: nodes with a mesh, by trimesh", len(scene.graph.nodes_geometry), 3, len(scene.graph.nodes_geometry) == 3)
    # glTF has y up: (x, y, z) of the scene is (x, z, −y) there.
    node = next(n for n in scene.graph.nodes_geometry if n.startswith("ball"))
    matrix, name = scene.graph[node]
    seen = trimesh.transform_points(scene.geometry[name].vertices, matrix)
    x, y, z = frames[0][body == 0].T
    check("glb: vertices of the ball against the first frame, m", farthest(seen, np.c_[x, z, -y]), 1e-6)
    solid = scene.geometry[name].copy()
    solid.merge_vertices(merge_norm=True, merge_tex=True)
    check("glb: the ball is closed and outward", str(solid.is_watertight), "True", solid.is_watertight and solid.volume > 0)
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = common.json.loads(data[20 : 20 + length])
    targets = len(document["meshes"][0]["primitives"][0]["targets"])
    check("glb: morph targets, one per later frame", targets, len(frames) - 1, targets == len(frames) - 1)


def usd(run, frames, body, npz):
    Usd, UsdGeom = need("pxr.Usd"), need("pxr.UsdGeom")
    path = run / "bodies.usda"
    lilyan("export", run, "--to", "usda", "--field", "von_mises", "-o", path)
    stage = Usd.Stage.Open(str(path))
    axis, unit = UsdGeom.GetStageUpAxis(stage), UsdGeom.GetStageMetersPerUnit(stage)
    check("usda: up and unit, by Pixar's USD", f"{axis}, {unit} m", "Z, 1.0 m", (axis, unit) == ("Z", 1.0))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/scene/ball"))
    apart = 0.0
    for k, code in enumerate(mesh.GetPointsAttr().GetTimeSamples()):
        apart = max(apart, farthest(np.array(mesh.GetPointsAttr().Get(code)), frames[k][body == 0]))
    check("usda: the ball in every frame, m", apart, 1e-6)
    seconds = stage.GetEndTimeCode() / stage.GetTimeCodesPerSecond()
    check("usda: length, s from that of the run", seconds - npz["t"][-1], 1e-9)
    curves = UsdGeom.BasisCurves(stage.GetPrimAtPath("/scene/rope"))
    count = len(curves.GetCurveVertexCountsAttr().Get())
    check("usda: springs of the rope", count, 8, count == 8)


def sequences(run, frames, body):
    trimesh = need("trimesh")
    for kind in ["obj", "ply"]:
        lilyan("export", run, "--to", kind, "--body", "bar")
        mesh = trimesh.load(run / "export" / kind / f"{len(frames) - 1:06}.{kind}", process=False)
        apart = farthest(mesh.vertices, frames[-1][body == 1])
        check(f"{kind}: the bar in the last frame, by trimesh, m", apart, 1e-6)
        check(f"{kind}: the bar is closed", str(mesh.is_watertight), "True", mesh.is_watertight)


def caches(run, frames, body):
    for kind in ["pc2", "mdd"]:
        lilyan("export", run, "--to", kind)
        data = (run / "export" / kind / f"ball.{kind}").read_bytes()
        if kind == "pc2":
            points, count = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
            places = np.frombuffer(data, "<f4", offset=32)
        else:
            count, points = struct.unpack_from(">ii", data)
            places = np.frombuffer(data, ">f4", offset=8 + 4 * count)
        places = places.reshape(count, points, 3)
        apart = max(farthest(places[k], frames[k][body == 0]) for k in range(len(frames)))
        check(f"{kind}: the ball in every frame, m", apart, 1e-6)


def pictures(run, frames):
    Image = need("PIL.Image")
    lilyan("render", run, "-o", run / "one.png", "--at", 0.1, "--size", "160x90", "--field", "von_mises")
    with Image.open(run / "one.png") as picture:
        picture.load()
        check("png: size, by Pillow", str(picture.size), "(160, 90)", picture.size == (160, 90))
        colours = len(set(picture.get_flattened_data() if hasattr(picture, "get_flattened_data") else picture.getdata()))
        check("png: colours, which an empty picture has not", colours, 500, colours > 500)
    lilyan("render", run, "-o", run / "film.gif", "--size", "160x90", "--speed", 0.2, "--rate", 10)
    with Image.open(run / "film.gif") as film, Image.open(run / "one.png") as still:
        check("gif: pictures, by Pillow", film.n_frames, 11, film.n_frames == 11)
        film.seek(5)
        # The same time without colours of a field: the floor and the sky are the same within the colours of a GIF.
        a, b = (np.asarray(x.convert("RGB"), float)[45:, :40] for x in [film, still])
        check("gif: floor against that of the png, of 255", np.abs(a - b).mean(), 6)
    try:
        ffmpeg = need("imageio_ffmpeg").get_ffmpeg_exe()
    except common.Skip as reason:
        return skip("webm", str(reason))
    common.os.environ["LILYAN_FFMPEG"] = ffmpeg
    lilyan("render", run, "-o", run / "film.webm", "--size", "160x90", "--speed", 0.2, "--rate", 10)
    reader = need("imageio_ffmpeg").read_frames(str(run / "film.webm"))
    about = next(reader)
    count = sum(1 for _ in reader)
    check("webm: size and pictures, by ffmpeg", f"{about['size']}, {count}", "(160, 90), 11", about["size"] == (160, 90) and count == 11)


def main():
    meshio = need("meshio")
    at = folder()
    (at / "scene.toml").write_text(SCENE)
    run = at / "run"
    lilyan("run", at / "scene.toml", "-o", run)
    lilyan("export", run, "--to", "npz", "-o", run / "all.npz")
    npz = np.load(run / "all.npz")
    files = sorted((run / "frames").iterdir())
    read = [meshio.read(file) for file in files]
    frames = [mesh.points for mesh in read]
    apart = max(np.abs(frames[k] - npz["positions"][k]).max() for k in range(len(files)))
    check("npz: positions against the frames as meshio reads them, m", apart, 0)
    apart = max(np.abs(read[k].point_data["velocity"] - npz["velocity"][k]).max() for k in range(len(files)))
    check("npz: velocities, m/s", apart, 0)
    stress = np.concatenate([np.ravel(part) for part in read[-1].cell_data["von_mises"]])
    check("npz: stresses of cells, Pa", np.abs(stress - npz["von_mises"][-1]).max(), 0)
    energy = np.genfromtxt(run / "energy.csv", delimiter=",", names=True)
    check("npz: total energy against energy.csv, J", np.abs(energy["total"] - npz["energy/total"]).max(), 0)
    names = ", ".join(npz["bodies"])
    check("npz: names of bodies", names, "ball, bar, rope", names == "ball, bar, rope")
    body = npz["body"]
    for part in [glb, usd, sequences, caches, pictures]:
        extra = {glb: [frames, body], usd: [frames, body, npz], sequences: [frames, body], caches: [frames, body]}
        try:
            part(run, *extra.get(part, [frames]))
        except common.Skip as reason:
            skip(part.__name__, str(reason))


common.start(main)
