"""The built site: every file that dist/manifest.json lists, held in memory with its compressed forms."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from api.problems import Problem, ProblemTable
from api.web.accept import best_encoding, wants_html, wants_markdown
from api.web.request import Request
from api.web.response import Response, problem_response

NOT_FOUND_PAGE = "/404.html"
METHODS = "GET, HEAD, OPTIONS"
_ENCODINGS = {"br": ".br", "gzip": ".gz"}
_CACHE = {
    "page": "public, max-age=0, must-revalidate",
    "asset": "public, max-age=31536000, immutable",
    "discovery": "public, max-age=3600",
}
_CSP = (
    "default-src 'none'; script-src 'self'{hashes}; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_PAGE_HEADERS = {
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One encoding of a file, with its strong ETag."""

    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class Asset:
    """One path of the site. `variants` by encoding, "identity" always among them; `markdown` is the mirror's path."""

    variants: Mapping[str, Variant]
    headers: Mapping[str, str]
    markdown: str | None
    is_page: bool


class Site:
    """Answers GET and HEAD from memory. Empty when there is no dist/: then every page is a 503 that says so."""

    def __init__(self, assets: Mapping[str, Asset], problems: ProblemTable) -> None:
        self._assets, self._problems = assets, problems

    @classmethod
    def load(cls, dist: Path, problems: ProblemTable) -> "Site":
        """Reads the files that the manifest lists. Raises OSError or ValueError when a listed file is missing or
        the manifest broken."""
        manifest = dist / "manifest.json"
        if not manifest.is_file():
            return cls({}, problems)
        routes = json.loads(manifest.read_text(encoding="utf-8"))["routes"]
        return cls({path: _asset(dist, route) for path, route in routes.items()}, problems)

    def answer(self, request: Request) -> Response:
        """The response to a request for anything but the API."""
        try:
            return self._answer(request)
        except Problem as problem:
            return problem_response(problem, self._problems, request.request_id, {})

    def _answer(self, request: Request) -> Response:
        if not self._assets:
            raise Problem("site_unavailable", headers={"Retry-After": "60"})
        path, accept = request.path, request.headers.get("Accept", "")
        asset = self._assets.get(path)
        if asset is None and path != "/" and path.endswith("/") and path.rstrip("/") in self._assets:
            query = f"?{request.query}" if request.query else ""
            return Response(308, {"Location": path.rstrip("/") + query, "Cache-Control": "no-store"})
        if asset is None:
            return self._missing(request, accept)
        if request.method == "OPTIONS":
            return Response(204, {"Allow": METHODS})
        if request.method not in ("GET", "HEAD"):
            raise Problem("method_not_allowed", f"This path takes {METHODS}.", headers={"Allow": METHODS})
        if asset.markdown is not None and wants_markdown(accept):
            asset = _vary_by_accept(self._assets[asset.markdown])
        return _respond(asset, request, 200)

    def _missing(self, request: Request, accept: str) -> Response:
        page = self._assets.get(NOT_FOUND_PAGE)
        if page is not None and request.method in ("GET", "HEAD") and wants_html(accept):
            return _respond(page, request, 404)
        raise Problem(
            "not_found", "Neither the site nor the API has this path. The site's pages are listed in /llms.txt."
        )


def _respond(asset: Asset, request: Request, status: int) -> Response:
    offered = tuple(name for name in asset.variants if name != "identity")
    encoding = best_encoding(request.headers.get("Accept-Encoding", ""), offered)
    variant = asset.variants[encoding]
    headers = {**asset.headers, "ETag": variant.etag}
    if status == 404:
        # Others are answered with a problem document.
        headers["Vary"] = "Accept, Accept-Encoding"
    if status == 200 and _matches(request.headers.get("If-None-Match"), variant.etag):
        headers.pop("Content-Type")
        return Response(304, headers)
    if encoding != "identity":
        headers["Content-Encoding"] = encoding
    return Response(status, headers, variant.body)


def _matches(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    return any(tag.strip().removeprefix("W/") in (etag, "*") for tag in if_none_match.split(","))


def _vary_by_accept(mirror: Asset) -> Asset:
    """The Markdown mirror as an answer on the page's own URL."""
    return Asset(mirror.variants, {**mirror.headers, "Vary": "Accept, Accept-Encoding"}, None, False)


def _asset(dist: Path, route: Mapping[str, object]) -> Asset:
    file, cache = dist / str(route["file"]), str(route["cache"])
    body = file.read_bytes()
    digest = hashlib.sha256(body).hexdigest()[:20]
    variants = {"identity": Variant(body, f'"{digest}"')}
    for encoding, suffix in _ENCODINGS.items():
        packed = file.with_name(file.name + suffix)
        if packed.is_file():
            variants[encoding] = Variant(packed.read_bytes(), f'"{digest}-{encoding}"')
    media_type = str(route["type"])
    is_page = media_type.startswith("text/html")
    markdown = route.get("markdown")
    headers = {"Content-Type": media_type, "Cache-Control": _CACHE[cache], "X-Content-Type-Options": "nosniff"}
    headers["Vary"] = "Accept, Accept-Encoding" if markdown else "Accept-Encoding"
    if cache == "discovery":
        headers["Access-Control-Allow-Origin"] = "*"
    if is_page:
        hashes = "".join(f" '{value}'" for value in _strings(route.get("script_hashes")))
        headers |= {"Content-Security-Policy": _CSP.format(hashes=hashes), **_PAGE_HEADERS}
    return Asset(variants, headers, str(markdown) if markdown else None, is_page)


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
