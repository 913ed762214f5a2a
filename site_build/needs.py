"""Pure. Which names a template can use, read from its text: what it does not use can't change what it renders."""

import re
from collections.abc import Mapping
from functools import cache

from site_build.model import Source

_TAG = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
_WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_CALL = re.compile(r"\{%[-+]?\s*(?:extends|include|import|from)\s+([\"']?)")


ANYTHING = "*"
"""Stands for names that can't be known."""


class Needs:
    """The words of templates and of all that they extend, include and import."""

    def __init__(self, templates: Mapping[str, Source]) -> None:
        self._templates = templates
        self.of = cache(self._of)

    def _of(self, name: str) -> frozenset[str]:
        """Every name that stands between `{{` and `}}` or `{%` and `%}`, so at least those that are looked up; ANYTHING
        among them when an expression says which template is called."""
        words: set[str] = set()
        seen, ahead = {name}, [name]
        while ahead:
            source = self._templates.get(ahead.pop())
            if source is None:
                continue
            for tag in _TAG.findall(source.text):
                words.update(_WORD.findall(_QUOTED.sub("", tag)))
                if call := _CALL.match(tag):
                    ahead += [name for pair in _QUOTED.findall(tag) if (name := pair[0] or pair[1]) not in seen]
                    seen.update(ahead)
                    words.update([] if call[1] else [ANYTHING])
        return frozenset(words)
