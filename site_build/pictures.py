"""Pure. Answer sets as small inline SVGs: clusters as grouped dots, agreement as a bar. Colours come from the stylesheet."""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from site_build.model import Case

STEP = 60
"""Distance of two dots, in the SVG's units."""
RADIUS = 9
LANE = 44
"""Height of a lane of clusters."""
BAR = 260
GAP = 14
THRESHOLDS = (0.6, 0.8)
"""Where PRODUCT.md section 6 draws its lines: a majority, and a broad one."""

RISK_MARKS = {"low": "●", "medium": "◆", "high": "▲"}
"""A shape per risk, so that colour is never the only sign."""

_PLACE = re.compile(r'<div data-picture="(\d+)"></div>')


def placeholder(index: int, case: Case) -> str:
    """Stands for a picture in Markdown until HTML or the mirror is made. `case` is asked for to prove that it exists."""
    return f'<div data-picture="{index}"></div>' if case else ""


def in_html(html: str, cases: Sequence[Case]) -> str:
    """The page with its pictures drawn."""
    return _PLACE.sub(lambda match: figure(cases[int(match[1])]), html)


def in_text(markdown: str, cases: Sequence[Case]) -> str:
    """The mirror with its pictures told in a line each."""
    return _PLACE.sub(lambda match: f"Picture: {describe(cases[int(match[1])])}", markdown)


def describe(case: Case) -> str:
    """The picture in words."""
    result = case.result
    groups = "; ".join(f"{cluster['size']} ({', '.join(cluster['agent_ids'])})" for cluster in result["clusters"])
    count = len(case.request["answers"])
    return (
        f"{count} answers in {_plural(len(result['clusters']), 'cluster')}: {groups}. "
        f"Agreement {result['agreement_score']}, risk {result['false_consensus_risk']}."
    )


def figure(case: Case) -> str:
    """The full picture with the agents' ids, for the article."""
    clusters, result = case.result["clusters"], case.result
    parts, x = [], 1.0
    winner = _winner(clusters)
    for position, cluster in enumerate(clusters):
        width = cluster["size"] * STEP
        kind = "won" if position == winner else "lost"
        parts.append(f'<rect class="group {kind}" x="{x:g}" y="1" width="{width}" height="{LANE + 14}" rx="8"/>')
        for place, agent in enumerate(cluster["agent_ids"]):
            middle = x + STEP * (place + 0.5)
            parts.append(f'<circle class="dot {kind}" cx="{middle:g}" cy="22" r="{RADIUS}"/>')
            parts.append(f'<text x="{middle:g}" y="49" text-anchor="middle">{escape(_short(agent))}</text>')
        x += width + GAP
    bar, height = _bar(case, 0, 78, BAR)
    width = max(x, 400)
    risk = result["false_consensus_risk"]
    label = escape(describe(case), quote=True)
    return (
        f'<figure class="picture"><svg viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" role="img" aria-label="{label}">'
        f'{"".join(parts)}{bar}<text class="risk {risk}" x="{BAR + 20}" y="89">{RISK_MARKS[risk]} {risk} risk</text></svg></figure>'
    )


def thumbnail(case: Case) -> str:
    """The picture in the size of a list entry: dots and bar, no words."""
    clusters, parts, x = case.result["clusters"], [], 1.0
    winner = _winner(clusters)
    for position, cluster in enumerate(clusters):
        kind = "won" if position == winner else "lost"
        width = cluster["size"] * 16 + 4
        parts.append(f'<rect class="group {kind}" x="{x:g}" y="1" width="{width}" height="20" rx="6"/>')
        parts += [f'<circle class="dot {kind}" cx="{x + 10 + 16 * n:g}" cy="11" r="5"/>' for n in range(cluster["size"])]
        x += width + 5
    agreement = float(case.result["agreement_score"])
    risk = case.result["false_consensus_risk"]
    label = escape(f"{case.name}: {describe(case)}", quote=True)
    size = max(96, int(x) + 18)
    return (
        f'<svg class="thumb" viewBox="0 0 {size} 34" width="{size}" height="34" role="img" aria-label="{label}">{"".join(parts)}'
        f'<rect class="track" x="1" y="27" width="{size - 2}" height="5" rx="2.5"/>'
        f'<text class="risk {risk}" x="{size - 1}" y="16" text-anchor="end" aria-hidden="true">{RISK_MARKS[risk]}</text>'
        f'<rect class="fill {risk}" x="1" y="27" width="{(size - 2) * agreement:g}" height="5" rx="2.5"/></svg>'
    )


def _bar(case: Case, x: float, y: float, width: float) -> tuple[str, int]:
    agreement = float(case.result["agreement_score"])
    risk = case.result["false_consensus_risk"]
    ticks = "".join(
        f'<line class="tick" x1="{x + width * at:g}" y1="{y - 4:g}" x2="{x + width * at:g}" y2="{y + 18:g}"/>'
        f'<text class="small" x="{x + width * at:g}" y="{y + 32:g}" text-anchor="middle">{at}</text>'
        for at in THRESHOLDS
    )
    return (
        f'<rect class="track" x="{x:g}" y="{y:g}" width="{width:g}" height="14" rx="4"/>'
        f'<rect class="fill {risk}" x="{x:g}" y="{y:g}" width="{width * agreement:g}" height="14" rx="4"/>{ticks}'
        f'<text class="small" x="{x:g}" y="{y + 32:g}">agreement {case.result["agreement_score"]}</text>'
    ), int(y + 40)


def _winner(clusters: Sequence[dict[str, Any]]) -> int:
    size: Callable[[int], int] = lambda index: int(clusters[index]["size"])  # noqa: E731: a key that mypy can type
    return max(range(len(clusters)), key=size)


def _short(agent: str) -> str:
    return agent if len(agent) <= 9 else agent[:8] + "…"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
