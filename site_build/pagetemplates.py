"""Pure. The environment of the page templates: what every one of them can use."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import jinja2
from markupsafe import Markup

from site_build import machine, pictures
from site_build.cache import Cache
from site_build.markdown import Converter, deeper, inline
from site_build.model import Page, Site
from site_build.prose import fenced
from site_build.reference import Group, reference
from site_build.templating import environment


def page_environment(
    site: Site, cache: Cache, converter: Converter, assets: Mapping[str, str], guides: Sequence[Page]
) -> jinja2.Environment:
    """The filters and names that README and the templates speak of. `assets` are the hashed names by name."""
    made = environment(
        {name: source.text for name, source in site.templates.items()},
        cache,
        autoescape=jinja2.select_autoescape(("html", "xml")),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        inline=lambda text: _markup(inline(text)),
        markdown=lambda text: _markup(converter.convert(text).html),
        fenced=lambda text, language: fenced(language, text),
        highlight=lambda code, language: _markup(_highlighted(code, language, cache)),
        deeper=deeper,
        flat=lambda text: " ".join(str(text).split()),
        cell=lambda text: " ".join(str(text).split()).replace("|", "\\|"),
    )
    made.globals.update(
        site=site,
        facts=site.facts,
        settings=site.facts.site,
        base_url=site.base_url,
        version=site.contract.version,
        problems=list(site.problems.kinds.values()),
        groups=_Groups(site),
        sections=machine.llms_sections(site),
        guides=guides,
        asset=lambda name: f"/static/{assets[name]}",
        thumbnail=lambda case: _markup(pictures.thumbnail(case)),
    )
    return made


class _Groups:
    """The reference, worked out when a template first asks."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, index: int) -> Group:
        return self._groups[index]

    @cached_property
    def _groups(self) -> tuple[Group, ...]:
        return reference(self._site)


def _highlighted(code: str, language: str, cache: Cache) -> str:
    """A code block. Cached by hand: it does not pass through Markdown."""
    key = cache.key("block", f"{language}\n{code}".encode())
    if (stored := cache.get(key)) is not None:
        return stored.decode()
    from site_build.highlight import block

    html = block(code, language)
    cache.put(key, html.encode())
    return html


def _markup(html: str) -> Markup:
    """HTML of our own making, or from Markdown that we trust, which templates must not escape again."""
    return Markup(html)  # noqa: S704 - its callers escape what is not theirs
