"""Pure. Answer sets as inline SVGs: clusters as grouped dots, agreement as a bar. The stylesheet has the colours."""

import re
from collections.abc import Sequence
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
    """Stands for a picture in Markdown until HTML or the mirror is made. `case` proves that there is one."""
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
    clusters, risk = case.result["clusters"], case.result["false_consensus_risk"]
    parts, x = [], 1.0
    for kind, cluster in _kinds(clusters):
        width = cluster["size"] * STEP
        parts.append(f'<rect class="group {kind}" x="{x:g}" y="1" width="{width}" height="{LANE + 14}" rx="8"/>')
        for place, agent in enumerate(cluster["agent_ids"]):
            middle = x + STEP * (place + 0.5)
            parts.append(f'<circle class="dot {kind}" cx="{middle:g}" cy="22" r="{RADIUS}"/>')
            parts.append(f'<text x="{middle:g}" y="49" text-anchor="middle">{escape(_short(agent))}</text>')
        x += width + GAP
    parts.append(_bar(case, 78))
    parts.append(f'<text class="risk {risk}" x="{BAR + 20}" y="89">{RISK_MARKS[risk]} {risk} risk</text>')
    return f'<figure class="picture">{_svg(max(x, 400), 118, describe(case), parts)}</figure>'


def thumbnail(case: Case) -> str:
    """The picture in the size of a list entry: dots, bar and the risk's mark."""
    clusters, risk = case.result["clusters"], case.result["false_consensus_risk"]
    parts, x = [], 1.0
    for kind, cluster in _kinds(clusters):
        width = cluster["size"] * 16 + 4
        parts.append(f'<rect class="group {kind}" x="{x:g}" y="1" width="{width}" height="20" rx="6"/>')
        parts += [
            f'<circle class="dot {kind}" cx="{x + 10 + 16 * n:g}" cy="11" r="5"/>' for n in range(cluster["size"])
        ]
        x += width + 5
    size = max(96, int(x) + 18)
    filled = (size - 2) * float(case.result["agreement_score"])
    parts.append(f'<text class="risk {risk}" x="{size - 1}" y="16" text-anchor="end">{RISK_MARKS[risk]}</text>')
    parts.append(f'<rect class="track" x="1" y="27" width="{size - 2}" height="5" rx="2.5"/>')
    parts.append(f'<rect class="fill {risk}" x="1" y="27" width="{filled:g}" height="5" rx="2.5"/>')
    return _svg(size, 34, f"{case.name}: {describe(case)}", parts, "thumb")


def _svg(width: float, height: float, label: str, parts: Sequence[str], name: str = "full") -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg class="{name}" {size} role="img" aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'


def _bar(case: Case, y: float) -> str:
    """Agreement as a bar from 0 to 1, with the thresholds marked."""
    score, risk = case.result["agreement_score"], case.result["false_consensus_risk"]
    ticks = "".join(
        f'<line class="tick" x1="{BAR * at:g}" y1="{y - 4:g}" x2="{BAR * at:g}" y2="{y + 18:g}"/>'
        f'<text x="{BAR * at:g}" y="{y + 32:g}" text-anchor="middle">{at}</text>'
        for at in THRESHOLDS
    )
    return (
        f'<rect class="track" x="0" y="{y:g}" width="{BAR}" height="14" rx="4"/>'
        f'<rect class="fill {risk}" x="0" y="{y:g}" width="{BAR * float(score):g}" height="14" rx="4"/>{ticks}'
        f'<text x="0" y="{y + 32:g}">agreement {score}</text>'
    )


def _kinds(clusters: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Each cluster with what it is: "won" for the first largest, "lost" for the others."""
    sizes = [cluster["size"] for cluster in clusters]
    winner = sizes.index(max(sizes))
    return [("won" if place == winner else "lost", cluster) for place, cluster in enumerate(clusters)]


def _short(agent: str) -> str:
    return agent if len(agent) <= 9 else agent[:8] + "…"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
