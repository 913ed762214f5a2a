"""Draws templates/root/architecture.svg from the imports of the code: `python -m tests.architecture`.

A test compares the file with what is drawn here, so the picture can't fall behind the code.
"""

from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.examples import ROOT
from tests.test_layers import MODULES, Module, within

FILE = ROOT / "templates" / "root" / "architecture.svg"
WIDTH, BOX_WIDTH, BOX_HEIGHT, ROW, MARGIN = 900, 250, 66, 118, 24


@dataclass(frozen=True, slots=True)
class Part:
    """A box: a name, what it is for, where it stands, and the packages and modules it is made of."""

    name: str
    duty: str
    row: int
    x: int
    packages: tuple[str, ...]


PARTS = (
    Part(
        "app", "composes and starts everything", 0, 325, ("api.app", "api.supervisor", "api.commands", "api.__main__")
    ),
    Part("jobs", "each once, on whichever node", 1, 24, ("api.jobs",)),
    Part("web", "bytes to calls, replies to bytes", 1, 325, ("api.web",)),
    Part("site_build", "content to pages", 1, 626, ("site_build",)),
    Part("service", "the one pipeline, free of HTTP", 2, 175, ("api.service",)),
    Part("clients", "the world outside", 3, 24, ("api.clients",)),
    Part("store", "functions of a transaction", 3, 325, ("api.store",)),
    Part(
        "readers of content",
        "contract, problems, facts, prompts",
        3,
        626,
        ("api.contract", "api.problems", "api.openapi", "api.facts", "api.prompts", "api.yamlfile"),
    ),
    Part("core", "pure: engines, rules, formats", 4, 325, ("api.core",)),
    Part("config, logs", "settings, JSON lines", 4, 24, ("api.config", "api.logs")),
)
COMPOSES = PARTS[0]
"""Imports everything; its arrows would hide the others."""

STYLE = """
svg{color-scheme:light dark;font-family:system-ui,sans-serif}
.page{fill:#f6f7f9;stroke:#d9dde4}.box{fill:#fff;stroke:#7b8494}.name{fill:#1b1f27;font-size:15px;font-weight:600}
.duty{fill:#596273;font-size:12px}.edge{stroke:#2f54c8;fill:none;opacity:.55}.head{fill:#2f54c8}
@media(prefers-color-scheme:dark){.page{fill:#171b21;stroke:#2a313b}.box{fill:#0f1216;stroke:#6f7a8a}.name{fill:#e6e9ef}
.duty{fill:#a3adbd}.edge{stroke:#9db4ff}.head{fill:#9db4ff}}
"""


def part_of(name: str) -> Part | None:
    """The part that a module belongs to; None for packages that only hold others."""
    return next((part for part in PARTS if within(name, part.packages)), None)


def edges(modules: list[Module]) -> Counter[tuple[Part, Part]]:
    """How many modules of one part import each other part."""
    found: Counter[tuple[Part, Part]] = Counter()
    for module in modules:
        home = part_of(module.name)
        if home is COMPOSES:
            continue
        wanted = {part_of(imported) for imported, _ in module.imports}
        found.update((home, part) for part in wanted if home is not None and part is not None and part is not home)
    return found


def picture(modules: list[Module]) -> str:
    """The SVG: boxes in rows, an arrow for each pair of parts of which one imports the other, as thick as that is
    common."""
    height = MARGIN * 2 + 4 * ROW + BOX_HEIGHT
    files = Counter(part_of(module.name) for module in modules)
    found = edges(modules)
    upward = [f"{a.name} imports {b.name}" for a, b in found if a.row > b.row]
    assert not upward, upward
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(told(modules))}</title>",
        f"<style>{''.join(STYLE.split(chr(10)))}</style>",
        '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" '
        'markerUnits="userSpaceOnUse"><path class="head" d="M0 0l8 4-8 4z"/></marker>',
        f'<rect class="page" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        *(
            _arrow(a, b, count)
            for (a, b), count in sorted(found.items(), key=lambda row: (row[0][0].name, row[0][1].name))
        ),
        *(_box(part, files[part]) for part in PARTS),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def told(modules: list[Module]) -> str:
    """The picture in words."""
    found = edges(modules)
    below = {part: [other.name for other in PARTS if (part, other) in found] for part in PARTS}
    said = ["app composes all of them"] + [
        f"{part.name} uses {', '.join(names)}" for part, names in below.items() if names
    ]
    return "The parts of the code, and which imports which. " + "; ".join(said) + "."


def _top(part: Part) -> int:
    return MARGIN + part.row * ROW


def _arrow(a: Part, b: Part, count: int) -> str:
    x1, x2 = a.x + BOX_WIDTH / 2, b.x + BOX_WIDTH / 2
    # Spread, so that arrows to and from one box can be told apart.
    shift = (x2 - x1) / 6
    y1, y2 = _top(a) + BOX_HEIGHT, _top(b) - 2
    if a.row == b.row:
        y = _top(a) + BOX_HEIGHT / 2
        left, right = (a.x, b.x + BOX_WIDTH + 2) if a.x > b.x else (a.x + BOX_WIDTH, b.x - 2)
        path = f"M{left:g} {y:g}H{right:g}"
    else:
        middle = (y1 + y2) / 2
        path = f"M{x1 + shift:g} {y1:g}C{x1 + shift:g} {middle:g} {x2 - shift:g} {middle:g} {x2 - shift:g} {y2:g}"
    return f'<path class="edge" stroke-width="{min(4.0, 1 + count / 12):.1f}" marker-end="url(#a)" d="{path}"/>'


def _box(part: Part, files: int) -> str:
    y = _top(part)
    return (
        f'<rect class="box" x="{part.x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{part.x + 12}" y="{y + 27}">{escape(part.name)}</text>'
        f'<text class="duty" x="{part.x + BOX_WIDTH - 12}" y="{y + 27}" text-anchor="end">{files}</text>'
        f'<text class="duty" x="{part.x + 12}" y="{y + 47}">{escape(part.duty)}</text>'
    )


def main(file: Path = FILE) -> None:
    """Writes the picture."""
    file.write_text(picture(MODULES), encoding="utf-8")


if __name__ == "__main__":
    main()
