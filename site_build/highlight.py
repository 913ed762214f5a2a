"""Pure. Code as HTML in five colour classes: kw, str, num, comment, fn. Everything else has the colour of text.

Pygments' own style fails the contrast rules (WCAG AA), and its dozens of classes would not fit a small stylesheet.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"),
    (Name.Tag, "fn"),  # JSON and YAML keys
    (Name.Function, "fn"),
    (Name.Class, "fn"),
    (Name.Builtin, "fn"),
    (Name.Decorator, "fn"),
    (Name.Attribute, "fn"),
    (Name.Variable, "num"),
    (Number, "num"),
    (Keyword.Constant, "num"),
    (String, "str"),
    (Keyword, "kw"),
    (Operator.Word, "kw"),
)
"""The first entry that a token belongs to decides."""

WRAPPED = frozenset({"json", "sh", "http"})
"""Languages whose long lines are wrapped: long strings in JSON and commands say nothing by where they end."""

_JSON = re.compile(
    r"""(?P<fn>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?P<str>"(?:[^"\\\n]|\\.)*")"""
    r"|(?P<num>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b(?:true|false|null)\b)"
)
_PLAIN = frozenset({"", "text", "txt", "plain"})


def highlight(code: str, language: str) -> str:
    """The code, escaped and coloured, without its last line break. An unknown language is left plain."""
    runs = _json_runs(code.rstrip("\n")) if language == "json" else _lexed(code.rstrip("\n"), language)
    lines = _lines(runs)
    if language not in WRAPPED:
        return "\n".join(html for _, html in lines)
    # Each line is a box that wraps with a hanging indent; the line breaks stay in the text for who copies it.
    return "".join(f'<span class="l i{min(indent // 2 * 2, 6)}">{html}\n</span>' for indent, html in lines)


def _lines(runs: Iterable[tuple[str, str]]) -> list[tuple[int, str]]:
    """The runs cut at line breaks: each line's count of leading spaces and its HTML."""
    lines: list[list[tuple[str, str]]] = [[]]
    for name, text in runs:
        first, *rest = text.split("\n")
        lines[-1].append((name, first))
        lines += [[(name, part)] for part in rest]
    made = []
    for line in lines:
        plain = "".join(text for _, text in line)
        made.append((len(plain) - len(plain.lstrip(" ")), "".join(_span(name, text) for name, text in line)))
    while len(made) > 1 and not made[-1][1]:
        made.pop()
    return made


def _span(name: str, text: str) -> str:
    shown = escape(text, quote=False)
    return f'<span class="{name}">{shown}</span>' if name and text.strip() else shown


def block(code: str, language: str) -> str:
    """A whole code block. The script puts a copy button into it; tabindex lets a keyboard scroll it."""
    name = escape(language or "text", quote=True)
    return (
        f'<div class="code" data-lang="{name}"><pre tabindex="0"><code>{highlight(code, language)}</code></pre></div>'
    )


def _json_runs(code: str) -> Iterator[tuple[str, str]]:
    """JSON by one regular expression: Pygments reads it character by character, and most of our blocks are JSON."""
    at = 0
    for match in _JSON.finditer(code):
        if match.start() > at:
            yield "", code[at : match.start()]
        yield str(match.lastgroup), match[0]
        at = match.end()
    yield "", code[at:]


def _lexed(code: str, language: str) -> Iterable[tuple[str, str]]:
    lexer = None if language in _PLAIN else _lexer(language)
    return _runs(lexer, code) if lexer else [("", code)]


def _runs(lexer: Lexer, code: str) -> Iterator[tuple[str, str]]:
    """Neighbouring tokens of one class as one run; white space joins the run before it."""
    name, pending = "", ""
    for token, text in lexer.get_tokens(code):
        kind = _class(token)
        if kind == name or not text.strip():
            pending += text
            continue
        if pending:
            yield name, pending
        name, pending = kind, text
    if pending:
        yield name, pending


@cache
def _class(token: Any) -> str:
    return next((name for kind, name in _CLASSES if token in kind), "")


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None
