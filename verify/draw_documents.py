"""Draws docs/papers.svg: curves of the scenes in scenes/papers, one panel per figure of a document.

    LILYAN=target/debug/lilyan verify/.venv/bin/python verify/draw_documents.py docs/papers.svg
"""

import sys

import common
import numpy as np
from paper_scenes import method, run

COLOURS = ["#2ca02c", "#d62728", "#1f77b4", "#ff9f1c", "#222222"]
WIDTH, HEIGHT, LEFT, TOP, GAP, COLUMNS = 250, 150, 58, 40, 72, 3
POINTS = 250


def column(name, table="energy", key="total", **settings):
    done = run(name, may_stop=True, **settings)
    data = getattr(done, table)
    return data["t"], data[key]


def panels():
    """Title, unit, {label: (times, values)}, limits of the values or None."""
    k06 = "k06-fig-1-pendulum"
    yield "K06 Fig. 1: pendulum, energy", "J", {
        "symplectic": column(k06), "implicit Euler": column(k06, integrator__name="backward-euler"),
        "explicit Euler": column(k06, integrator__name="explicit-euler")}, (-11, -1)
    yield "K06 Figs. 2, 3: rod, energy", "J", {
        "free": column("k06-fig-2-rod"), "damped": column("k06-fig-3-damped-rod")}, None
    rod = dict(time__end=20)
    yield "K10 Fig. 3.5: rod, energy", "J", {
        "ours, 4 ms": column("k06-fig-3-damped-rod", **rod), "ours, 2 ms": column("k06-fig-3-damped-rod", time__step=0.002, **rod),
        "Newmark, 4 ms": column("k10-fig-3-5-newmark"), "Newmark, 2 ms": column("k10-fig-3-5-newmark", time__step=0.002)}, None
    skeel = dict(rule="potential", scale=0.5)
    yield "K10 Fig. 3.6: Skeel's spring, energy", "J", {
        "reversible": column("k10-fig-3-6-skeel", integrator=method("adaptive-reversible", **skeel)),
        "naive": column("k10-fig-3-6-skeel")}, (0, 2)
    name = "k10-fig-3-7-naive-pendulum"
    yield "K10 Fig. 3.7: pendulum, energy", "J", {
        "reversible": column(name, integrator__name="adaptive-reversible"), "naive": column(name),
        "symplectic": column(name, integrator__name="adaptive-symplectic")}, None
    name = "k10-fig-3-9-three-masses"
    yield "K10 Fig. 3.9: three masses, energy", "J", {
        "reversible, 0.2 s": column(name, time__step=0.2), "naive, 0.1 s": column(name, integrator__name="adaptive-naive"),
        "symplectic, 0.1 s": column(name, integrator__name="adaptive-symplectic"),
        "symplectic, 0.2 s": column(name, integrator__name="adaptive-symplectic", time__step=0.2)}, (0, 30)
    name = "s06-fig-2-cube"
    low = lambda m, h: column(name, "probes", "corner_y", integrator__name=m, time__step=h, output__every=1)
    yield "S06 Fig. 3: height of a corner", "m", {
        "regularized, 50 ms": low("regularized", 0.05), "linearly implicit, 50 ms": low("semi-implicit", 0.05),
        "regularized, 5 ms": low("regularized", 0.005), "linearly implicit, 5 ms": low("semi-implicit", 0.005)}, None
    name = "s06-fig-10-swing"
    yield "S06 Fig. 10: deformation energy", "J", {
        f"{h * 1e3:g} ms": column(name, key="elastic", time__step=h) for h in (0.005, 0.015, 0.06)}, None
    rope = "c19-fig-4-3-rope"
    yield "C19 Fig. 4.3: rope, energy", "J", {
        m: column(rope, integrator=method(m)) for m in ("ere", "semi-implicit", "implicit-midpoint", "backward-euler")}, None
    name = "c19-fig-5-2-mssi-pendulum"
    yield "C19 Fig. 5.2: kinetic energy", "J", {
        "MSSI": column(name, key="kinetic"), "SI": column(name, key="kinetic", integrator__name="semi-implicit")}, None
    name = "c19-fig-6-8-arap-cuboid"
    yield "C19 Fig. 6.8: ARAP cuboid, energy", "J", {
        m: column(name, integrator=method(m)) for m in ("siere", "semi-implicit", "implicit-midpoint", "backward-euler")}, None
    name = "c19-fig-6-9-hanging-ball"
    yield "C19 Fig. 6.9: hanging ball, energy", "J", {
        m: column(name, integrator=method(m)) for m in ("siere", "semi-implicit", "implicit-midpoint")}, None


def thinned(t, v):
    """At most so many points, extremes kept: the least and the largest value of each piece."""
    if len(t) <= POINTS:
        return t, v
    picked = []
    for piece in np.array_split(np.arange(len(t)), POINTS // 2):
        picked += sorted({piece[v[piece].argmin()], piece[v[piece].argmax()]})
    return t[picked], v[picked]


def draw(path):
    found = list(panels())
    rows = -(-len(found) // COLUMNS)
    size = LEFT + COLUMNS * (WIDTH + GAP), TOP + rows * (HEIGHT + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}" '
           'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for k, (title, unit, lines, limits) in enumerate(found):
        x0, y0 = LEFT + k % COLUMNS * (WIDTH + GAP), TOP + k // COLUMNS * (HEIGHT + GAP)
        end = max(t[-1] for t, _ in lines.values())
        values = np.concatenate([v for _, v in lines.values()])
        low, high = limits or (values.min(), values.max())
        margin = 0 if limits else 0.05 * (high - low) or 1.0
        low, high = low - margin, high + margin
        out.append(f'<clipPath id="c{k}"><rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}"/></clipPath>')
        out.append(f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
        out.append(f'<text x="{x0}" y="{y0 - 8}" font-weight="bold">{title}</text>')
        for share in (0, 0.5, 1):
            y = y0 + HEIGHT * (1 - share)
            out.append(f'<text x="{x0 - 5}" y="{y + 4:.1f}" text-anchor="end">{low + share * (high - low):.4g}</text>')
        out.append(f'<text x="{x0 - 5}" y="{y0 + 22}" text-anchor="end">{unit}</text>')
        out.append(f'<text x="{x0 + WIDTH}" y="{y0 + HEIGHT + 13}" text-anchor="end">{end:g} s</text>')
        for i, (label, (t, v)) in enumerate(lines.items()):
            t, v = thinned(np.asarray(t), np.clip(v, low - (high - low), high + (high - low)))
            points = " ".join(f"{x0 + WIDTH * a / end:.1f},{y0 + HEIGHT * (1 - (b - low) / (high - low)):.1f}" for a, b in zip(t, v))
            out.append(f'<polyline points="{points}" clip-path="url(#c{k})" fill="none" stroke="{COLOURS[i]}" stroke-width="1.2"/>')
            x, y = x0 + i % 2 * WIDTH / 2, y0 + HEIGHT + 26 + 12 * (i // 2)
            out.append(f'<path d="M{x} {y - 4}h14" stroke="{COLOURS[i]}" stroke-width="3"/><text x="{x + 18}" y="{y}">{label}</text>')
    out.append("</svg>")
    with open(path, "w") as file:
        print("\n".join(out), file=file)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else common.REPOSITORY / "docs/papers.svg")
