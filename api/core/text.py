"""Pure. Tokens, stems and stopwords of the consensus engine (PRODUCT.md section 6).

The judge has a richer normaliser of its own in `api.core.judge`; this one is part of the documented consensus rules
and never changes without them.
"""

import re
from functools import lru_cache

_TOKEN = re.compile(r"[^\W_]{2,}")

STOPWORDS = frozenset(
    """
    about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down dur each for from had has hav have he her here him his how if in into is
    it its just may me might more most must my of off on once only or other our out over own same shall she
    should so some such than that the their them then there these they this those through to too under until up
    upon us very was we were what when where which while who whom whose why will with would you your
    """.split()
)
"""English function words, as stems ("dur" is "during", "hav" is "having"). They carry no agreement. Negations (not,
no, never, without) are kept as tokens on purpose: they turn an answer round. Published in the docs."""


@lru_cache(maxsize=65_536)
def stem(token: str) -> str:
    """Cuts inflections: `ing` from tokens longer than 5, then `ed` longer than 4, then `s` longer than 4 and not
    after `s`.

    Each step works on what the one before left: "landings" has no `ing` at its end and becomes "landing", no further.
    """
    if len(token) > 5 and token.endswith("ing"):
        token = token[:-3]
    if len(token) > 4 and token.endswith("ed"):
        token = token[:-2]
    if len(token) > 4 and token.endswith("s") and not token.endswith("ss"):
        token = token[:-1]
    return token


def tokens(text: str) -> frozenset[str]:
    """The distinct stemmed content tokens of `text`: runs of two or more letters or digits of any script,
    lowercased."""
    return frozenset(map(stem, _TOKEN.findall(text.lower()))) - STOPWORDS
