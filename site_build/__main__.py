"""The command: `python -m site_build`. Exit 0 when dist/ is as it should be, 1 with a line per fault on stderr."""

import argparse
import datetime
import gc
import os
import sys
from pathlib import Path

from site_build import kept, tree
from site_build.cache import Cache


def main(arguments: list[str] | None = None) -> int:
    """Builds the site, or finds that there is nothing to do."""
    options = _parser().parse_args(arguments)
    base_url = options.base_url or os.environ.get("PUBLIC_BASE_URL", "")
    date = options.date or _source_date()
    try:
        sources = tree.Sources.read(options.content, options.templates)
        return _build(options, sources, base_url, date)
    except OSError as error:
        print(f"{error.filename or options.out}:1:1: {error.strerror or error}", file=sys.stderr)
        return 1


def _build(options: argparse.Namespace, sources: tree.Sources, base_url: str, date: str) -> int:
    inputs = sources.digest(f"{base_url}\n{date}")
    if options.if_changed and _built_from(options.out, inputs):
        print(f"{tree.shown(options.out)} is up to date")
        return 0
    cache = Cache(options.cache, tree.builder_digest())
    left = kept.load(options.out, cache)
    cache.close()
    if left.inputs == inputs and left.whole(options.out):
        print(f"{tree.shown(options.out)} is up to date, all of it")
        return 0
    # A build makes many small objects that live to its end: looking for cycles among them often only costs time.
    gc.set_threshold(50_000)
    # Imported here: an unchanged site needs no template engine.
    from site_build.build import build
    from site_build.faults import BuildFailed

    try:
        print(build(sources, options.out, base_url, date, options.cache))
    except BuildFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m site_build", description="Builds the site of Screwtape.ai.")
    add = parser.add_argument
    add("--content", type=Path, default=tree.ROOT / "content", metavar="DIR", help="the sources (content)")
    add(
        "--templates",
        type=Path,
        default=tree.ROOT / "templates",
        metavar="DIR",
        help="templates and static files (templates)",
    )
    add("--out", type=Path, default=tree.ROOT / "dist", metavar="DIR", help="where the site goes (dist)")
    add(
        "--cache",
        type=Path,
        default=tree.ROOT / ".cache" / "site.db",
        metavar="FILE",
        help="what may be reused (.cache/site.db)",
    )
    add(
        "--base-url",
        default="",
        metavar="URL",
        help="the site's address; else PUBLIC_BASE_URL, else the one in site.yaml",
    )
    add(
        "--date",
        type=_date,
        default=None,
        metavar="YYYY-MM-DD",
        help="today, for the sitemap; else SOURCE_DATE_EPOCH, else none",
    )
    add("--if-changed", action="store_true", help="do nothing when the site was built from these very sources")
    return parser


def _date(text: str) -> str:
    return datetime.date.fromisoformat(text).isoformat()


def _source_date() -> str:
    """The UTC day of SOURCE_DATE_EPOCH (reproducible-builds.org), or "" when it is not set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.datetime.fromtimestamp(int(epoch), datetime.UTC).date().isoformat() if epoch.isdigit() else ""


def _built_from(out: Path, inputs: str) -> bool:
    import json

    try:
        found = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        return bool(found["inputs"] == inputs)
    except (OSError, ValueError, KeyError, TypeError):
        return False


if __name__ == "__main__":
    sys.exit(main())
