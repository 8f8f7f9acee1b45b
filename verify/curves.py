"""Curves as SVG, one panel per scene: nothing to install."""

COLOURS = {"semi-implicit": "#d62728", "backward-euler": "#ff9f1c", "implicit-midpoint": "#222222", "ere": "#1f77b4",
           "siere": "#2ca02c"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 190, 46, 52, 56


def draw(path, panels, columns=3, top=1.2):
    """`panels`: name, end of time, {method: (times, values)}; values from 0 to `top`."""
    rows = -(-len(panels) // columns)
    size = LEFT + columns * (WIDTH + GAP), TOP + rows * (HEIGHT + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
           f'height="{size[1]}" font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for k, (method, colour) in enumerate(COLOURS.items()):
        x = LEFT + 150 * k
        out.append(f'<path d="M{x} 16h24" stroke="{colour}" stroke-width="3"/><text x="{x + 30}" y="20">{method}</text>')
    for k, (name, end, curves) in enumerate(panels):
        x0, y0 = LEFT + (k % columns) * (WIDTH + GAP), TOP + (k // columns) * (HEIGHT + GAP)
        across = lambda t: x0 + WIDTH * t / end
        down = lambda v: y0 + HEIGHT * (1 - min(max(v, 0), top) / top)
        out.append(f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
        out.append(f'<text x="{x0}" y="{y0 - 6}" font-weight="bold">{name}</text>')
        for v in (0, 0.5, 1):
            out.append(f'<path d="M{x0} {down(v):.1f}h{WIDTH}" stroke="#ddd"/>'
                       f'<text x="{x0 - 6}" y="{down(v) + 4:.1f}" text-anchor="end">{v}</text>')
        out.append(f'<text x="{x0}" y="{y0 + HEIGHT + 15}">0</text>'
                   f'<text x="{x0 + WIDTH}" y="{y0 + HEIGHT + 15}" text-anchor="end">{end:.3g} s</text>')
        for method, (times, values) in curves.items():
            points = " ".join(f"{across(t):.1f},{down(v):.1f}" for t, v in zip(times, values))
            out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[method]}" stroke-width="1.6"/>')
            if times[-1] < 0.999 * end:
                out.append(f'<text x="{across(times[-1]):.1f}" y="{down(values[-1]) + 4:.1f}" text-anchor="middle" '
                           f'fill="{COLOURS[method]}" font-size="16">×</text>')
    out.append("</svg>")
    with open(path, "w") as file:
        print("\n".join(out), file=file)
