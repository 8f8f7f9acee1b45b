#!/usr/bin/env python3
"""Writes the pages of methods, src/methods/*.md and their part of src/SUMMARY.md, from the cards and from what each source file says first.

    lilyan=target/debug/lilyan book/methods.py            writes them
    lilyan=target/debug/lilyan book/methods.py --check    tells which differ, with exit status 1

The program is $LILYAN, or `lilyan` on the path.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

BOOK = pathlib.Path(__file__).resolve().parent
ROOT = BOOK.parent
SOURCES = {
    "integrators": ROOT / "crates/dynamics/src/integrators",
    "materials": ROOT / "crates/solid/src/materials",
    "damping": ROOT / "crates/solid/src/damping",
    "contact": ROOT / "crates/solid/src/contact",
    "elements": ROOT / "crates/solid/src/elements",
}
HEADINGS = {"integrators": "Integrators", "materials": "Materials", "damping": "Damping", "contact": "Contact", "elements": "Elements"}


def catalogue(command):
    program = os.environ.get("LILYAN", "lilyan")
    return json.loads(subprocess.run([program, command, "--json"], check=True, capture_output=True, text=True).stdout)


def head(kind, name):
    """What the source file of a method says first: its equations."""
    pattern = re.compile(rf'(name: |hyperelastic\(|const NAME: &str = ){re.escape(json.dumps(name))}')
    for path in sorted(SOURCES[kind].rglob("*.rs")):
        text = path.read_text(encoding="utf-8")
        if not pattern.search(text.split("#[cfg(test)]")[0]):
            continue
        if path.parent != SOURCES[kind]:  # a method with a folder of its own
            first = next(p for name in ("law.rs", "mod.rs") if (p := path.parent / name).exists())
            text = first.read_text(encoding="utf-8")
        lines = []
        for line in text.splitlines():
            if not line.startswith("//!"):
                break
            lines.append(line[3:].removeprefix(" ") if not line.startswith("//!   ") else "    " + line[3:].strip())
        return markdown("\n".join(lines))
    return ""


def markdown(text):
    text = re.sub(r"\\([\[\]])", r"\1", text)
    text = re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text)  # links of the library's manual
    # A line of equations in the text is a block of its own.
    return re.sub(r"(?m)^(?!    )(.+)\n(?=    )", r"\1\n\n", text).strip()


def yes(value):
    return "yes" if value else "no"


def integrator(card):
    conserves = card["conserves"]
    order = str(card["order"])
    if card["order_with_damping"] != card["order"]:
        order += f", {card['order_with_damping']} with damping"
    rows = [
        ("order", order),
        ("solves equations", yes(not card["explicit"])),
        ("symplectic", yes(card["symplectic"])),
        ("reversible", yes(card["reversible"])),
        ("keeps linear momentum", yes(conserves["linear_momentum"])),
        ("keeps angular momentum", yes(conserves["angular_momentum"])),
        ("keeps energy", yes(conserves["energy"])),
        ("stable for", card["stable_for"]),
    ]
    text = "| | |\n|---|---|\n" + "".join(f"| {key} | {value} |\n" for key, value in rows)
    text += f'\n```toml\n[integrator]\nname = "{card["name"]}"\n```\n'
    return text + options(card.get("options", []), "default")


def options(given, default="default"):
    if not given:
        return ""
    lines = ["\n| option | default | |\n|---|---|---|\n"]
    for option in given:
        value = option.get(default)
        unit = f" ({option['unit']})" if option.get("unit") else ""
        shown = "" if value is None else f"`{str(value).removesuffix('.0')}`"
        lines.append(f"| `{option['name']}` | {shown} | {option['doc'].rstrip('.')}{unit} |\n")
    return "".join(lines)


def material(card):
    text = f"    ψ(F) = {card['formula']}\n" if card.get("formula") else ""
    text += f'\n```toml\nmaterial = {{ model = "{card["name"]}", E = 1e5, nu = 0.3, rho = 1000 }}\n```\n'
    own = [p for p in card.get("parameters", []) if not re.fullmatch(r"C\d\d", p["name"])]
    if len(own) < len(card.get("parameters", [])):
        text += "\nAnisotropic bodies give the entries C11 … C66 of their stiffness (Pa) instead of E and nu.\n"
    return text + options(own)


def other(card):
    return options(card.get("parameters", []))


def page(kind, card):
    body = {"integrators": integrator, "materials": material}.get(kind, other)(card)
    summary = card["summary"][0].upper() + card["summary"][1:].rstrip(".")
    text = f"# {card['name']}\n\n{summary}.\n\n{body.lstrip(chr(10))}"
    said = head(kind, card["name"])
    if said:
        text = f"{text.rstrip()}\n\n## Equations\n\n{said}\n"
    cite = card.get("cite")
    if cite and cite.get("text"):
        text += f"\n## Source\n\n[{cite['key']}] {cite['text']}.\n"
    return text


def pages():
    """Contents by path below src, and the lines of the summary."""
    found, summary = {}, []
    everything = {"integrators": catalogue("integrators")["integrators"], **catalogue("materials")}
    for kind, heading in HEADINGS.items():
        listing = f"# {heading}\n\n| | |\n|---|---|\n"
        summary.append(f"- [{heading}](methods/{kind}.md)")
        for card in everything[kind]:
            path = f"methods/{kind}-{card['name']}.md"
            found[path] = page(kind, card)
            listing += f"| [{card['name']}]({path.removeprefix('methods/')}) | {card['summary']} |\n"
            summary.append(f"  - [{card['name']}]({path})")
        found[f"methods/{kind}.md"] = listing
    return found, summary


def main():
    found, summary = pages()
    path = BOOK / "src/SUMMARY.md"
    before, rest = path.read_text(encoding="utf-8").split("# Methods\n\n")
    after = rest.split("\n\n", 1)[1]
    found["SUMMARY.md"] = before + "# Methods\n\n" + "\n".join(summary) + "\n\n" + after
    stale = [p for p in (BOOK / "src/methods").glob("*.md") if f"methods/{p.name}" not in found]
    differ = [name for name, text in found.items() if not (BOOK / "src" / name).exists() or (BOOK / "src" / name).read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for name in [*differ, *(f"methods/{p.name}" for p in stale)]:
            print(f"book/src/{name} is not what the cards say; book/methods.py writes it anew")
        sys.exit(bool(differ or stale))
    for name in differ:
        (BOOK / "src" / name).write_text(found[name], encoding="utf-8")
    for p in stale:
        p.unlink()
    print(f"{len(differ)} of {len(found)} pages written")


if __name__ == "__main__":
    main()
