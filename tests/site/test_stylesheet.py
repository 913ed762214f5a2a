"""The stylesheet as it is served: fewer bytes, the same rules."""

import pytest

from site_build.stylesheet import squeeze


@pytest.mark.parametrize(
    ("written", "served"),
    [
        ("a { color: red; }\n", "a{color:red}"),
        ("a,\nb > c { margin: 0 4px }", "a,b>c{margin:0 4px}"),
        ("/* why */ a { width: calc(100% - 2 * var(--x)) }", "a{width:calc(100% - 2 * var(--x))}"),
        (".a :is(b, c) + d { x: y }", ".a :is(b,c) + d{x:y}"),
        ('a::before { content: "✕ { ; : " / "" }', 'a::before{content:"✕ { ; : " / ""}'),
        ("a { display: none !important }", "a{display:none!important}"),
        ("@media (min-width: 900px) { a { b: c } }", "@media (min-width:900px){a{b:c}}"),
    ],
)
def test_only_white_space_and_comments_go(written: str, served: str) -> None:
    assert squeeze(written.encode()).decode() == served
    assert squeeze(served.encode()).decode() == served
