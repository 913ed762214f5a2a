"""Pure: word tables of the judge. Data only; matching lives in the modules that read them.

All entries are in the folded form that `normalise.fold` returns (lower case, no accents, straight apostrophes).
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: English function words: they carry no content of their own and are left out of every overlap.
STOP: Final = _words(
    """a an the this that these those it its itself he him his himself she her hers herself they them their theirs
    themselves we us our ours ourselves i me my mine myself you your yours yourself who whom whose which what when
    where why how there here is are was were be been being am do does did doing done has have had having will would
    shall should can could may might must ought of to in on at by for with from into onto upon about as than then
    and or but if so because while whereas although though yet also too very just only even still both either each
    some any such same own other others another more most less least many much few several all every over under up
    down out off again once before after during between among through above below against within along around per
    via etc eg ie s t ll re ve d m it's that's there's he's she's they're we're you're i'm let's
    cannot one ones yes yeah yep okay ok"""
)

#: Words that turn a statement round. They are kept out of the overlap and compared by what they govern.
NEGATION: Final = _words(
    """not no never none nobody nothing nowhere neither nor cannot without ain't isn't aren't wasn't weren't don't
    doesn't didn't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't mustn't needn't hardly scarcely barely
    rarely seldom false untrue
    jamais nicht kein keine keinen niemals nunca jamas nao senza niet geen inte ikke pas
    не нет никогда без لا ليس لم لن לא नहीं"""
)
#: Content words that turn round what they govern: "failed to launch", "unable to swim".
NEGATING_CONTENT: Final = _words(
    """unable fail fails failed failing lack lacks lacked lacking deny denies denied refuse refuses refused decline
    declines declined"""
)

#: Function words of other frequent languages, short enough to carry no content when they are met.
STOP_OTHER: Final = _words(
    """le la les un une des du de et ou est sont dans pour avec ce cette ces qui que en au aux
    der das dem ein eine einen und oder ist waren auf mit von zu im
    el los las una y o es fue en por para del al
    il lo gli i e di da nel nella che
    и в на с по из у к от за это был была было были"""
)

#: French and Italian function words that lose their vowel before another one: n'est, l'acciaio.
ELISIONS: Final = _words("n l qu dell all nell dall sull")

#: A number after one of these is meant to be near, not exact.
APPROXIMATE: Final = _words(
    "about around approximately approx roughly nearly almost some circa ca ungefahr etwa environ aproximadamente ~ ≈"
)
#: A number after one of these is a lower bound. "at least", "more than", "no fewer than".
LOWER_BOUND: Final = _words("least over exceeding exceeds exceeded above beyond minimum ≥")
#: A number after one of these is an upper bound. "at most", "up to", "fewer than".
UPPER_BOUND: Final = _words("most under below maximum ≤")
#: Comparatives that need "than" before the number to be a bound.
MORE_THAN: Final = _words("more greater higher larger bigger longer")
LESS_THAN: Final = _words("less fewer lower smaller shorter")

UNITS_AND_TEENS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
TENS: Final[dict[str, int]] = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
#: Number words of German, French, Spanish and Russian, folded; left out: those that are English words too (elf, once,
#: seize), and one, which is also an article. They count when written small.
NUMBERS_OTHER: Final[dict[str, int]] = {
    word: value
    for value, words in enumerate(
        (
            "zwei zwo deux dos два две двух", "drei trois tres три трех", "vier quatre cuatro четыре четырех",
            "funf cinq cinco пять пяти", "sechs seis шесть шести", "sieben siete семь семи",
            "acht huit ocho восемь восьми", "neun neuf nueve девять девяти", "zehn dix diez десять десяти",
            "onze одиннадцать", "zwolf douze doce двенадцать", "dreizehn treize trece тринадцать",
            "vierzehn quatorze catorce четырнадцать", "funfzehn quinze пятнадцать",
            "sechzehn dieciseis шестнадцать", "siebzehn diecisiete семнадцать",
            "achtzehn dieciocho восемнадцать", "neunzehn diecinueve девятнадцать", "zwanzig vingt veinte двадцать",
        ),
        start=2,
    )
    for word in words.split()
}  # fmt: skip
SMALL_NUMBERS: Final[dict[str, int]] = {**NUMBERS_OTHER, **UNITS_AND_TEENS, **TENS}
SCALES: Final[dict[str, float]] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0,
    "millions": 1e6, "billions": 1e9, "millon": 1e6, "millones": 1e6, "millionen": 1e6, "milliarden": 1e9,
    "milliard": 1e9, "milliards": 1e9, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
#: Suffixes that scale a number only when they stand right behind its digits: 1k, 3.2M, 5bn.
SCALE_SUFFIXES: Final[dict[str, float]] = {
    "k": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6, "b": 1e9, "bn": 1e9, "t": 1e12, "tn": 1e12,
}  # fmt: skip
CJK_SCALES: Final[dict[str, float]] = {
    "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "만": 1e4, "亿": 1e8, "億": 1e8, "억": 1e8,
}  # fmt: skip
ORDINALS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        """third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
        sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        start=3,
    )
}
ORDINAL_SUFFIXES: Final = _words("st nd rd th")
#: With "of" or "the" behind it: 50 per cent.
HALVES: Final = _words("half")
MULTIPLIERS: Final[dict[str, int]] = {"twice": 2, "thrice": 3, "triple": 3, "tripled": 3}

MONTHS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        "january february march april may june july august september october november december".split(), start=1
    )
}
MONTH_ABBREVIATIONS: Final[dict[str, int]] = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11,
    "dec": 12,
}  # fmt: skip
#: Month names that are also plain words: months only beside a number, or capitalised inside a sentence.
MONTHS_AMBIGUOUS: Final = _words("march may august")

CURRENCIES: Final[dict[str, str]] = {
    "$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "₩": "krw", "₽": "rub", "usd": "usd", "eur": "eur",
    "gbp": "gbp", "jpy": "jpy", "inr": "inr", "chf": "chf", "dollar": "usd", "dollars": "usd", "euro": "eur",
    "euros": "eur", "yen": "jpy", "rupee": "inr", "rupees": "inr",
}  # fmt: skip

#: The dimension of currencies. Amounts in two currencies are never equal here: there is no rate.
MONEY: Final = "money"
#: unit word -> (dimension, size in the dimension's base unit). Units of one dimension can contradict each other.
UNITS: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys("mm millimetre millimetres millimeter millimeters".split(), ("length", 0.001)),
    **dict.fromkeys("cm centimetre centimetres centimeter centimeters".split(), ("length", 0.01)),
    **dict.fromkeys("m metre metres meter meters".split(), ("length", 1.0)),
    **dict.fromkeys("km kilometre kilometres kilometer kilometers".split(), ("length", 1000.0)),
    **dict.fromkeys("mi mile miles".split(), ("length", 1609.344)),
    **dict.fromkeys("ft foot feet".split(), ("length", 0.3048)),
    **dict.fromkeys("inch inches".split(), ("length", 0.0254)),
    **dict.fromkeys("yd yard yards".split(), ("length", 0.9144)),
    **dict.fromkeys("mg milligram milligrams".split(), ("mass", 0.001)),
    **dict.fromkeys("g gram grams gramme grammes".split(), ("mass", 1.0)),
    **dict.fromkeys("kg kilo kilos kilogram kilograms".split(), ("mass", 1000.0)),
    **dict.fromkeys("tonne tonnes".split(), ("mass", 1e6)),
    **dict.fromkeys("lb lbs".split(), ("mass", 453.59237)),
    **dict.fromkeys("oz ounce ounces".split(), ("mass", 28.349523125)),
    **dict.fromkeys("ms millisecond milliseconds".split(), ("time", 0.001)),
    **dict.fromkeys("sec secs second seconds".split(), ("time", 1.0)),
    **dict.fromkeys("min mins minute minutes".split(), ("time", 60.0)),
    **dict.fromkeys("h hr hrs hour hours".split(), ("time", 3600.0)),
    **dict.fromkeys("day days".split(), ("time", 86400.0)),
    **dict.fromkeys("week weeks".split(), ("time", 604800.0)),
    **dict.fromkeys("month months".split(), ("time", 2629746.0)),
    **dict.fromkeys("year years yr yrs".split(), ("time", 31556952.0)),
    **dict.fromkeys("decade decades".split(), ("time", 315569520.0)),
    **dict.fromkeys("century centuries".split(), ("time", 3155695200.0)),
    **dict.fromkeys("kb kilobyte kilobytes".split(), ("data", 1e3)),
    **dict.fromkeys("mb megabyte megabytes".split(), ("data", 1e6)),
    **dict.fromkeys("gb gigabyte gigabytes".split(), ("data", 1e9)),
    **dict.fromkeys("tb terabyte terabytes".split(), ("data", 1e12)),
    **dict.fromkeys("ml millilitre millilitres milliliter milliliters".split(), ("volume", 0.001)),
    **dict.fromkeys("litre litres liter liters".split(), ("volume", 1.0)),
    **dict.fromkeys("celsius".split(), ("celsius", 1.0)),
    **dict.fromkeys("fahrenheit".split(), ("fahrenheit", 1.0)),
    **dict.fromkeys("% percent percentage pct ٪".split(), ("share", 0.01)),
    **dict.fromkeys(CURRENCIES, (MONEY, 1.0)),
}

_SPELLINGS: Final[dict[str, str]] = {
    "usa": "united-states", "u.s": "united-states", "u.s.a": "united-states", "uk": "united-kingdom",
    "u.k": "united-kingdom", "tv": "television", "phone": "telephone", "photo": "photograph", "plane": "airplane",
    "aeroplane": "airplane", "colour": "color", "favourite": "favorite", "centre": "center", "theatre": "theater",
    "programme": "program", "organisation": "organization", "defence": "defense", "licence": "license",
    "labour": "labor", "harbour": "harbor", "neighbour": "neighbor", "behaviour": "behavior", "grey": "gray",
    "metre": "meter", "kilometre": "kilometer", "litre": "liter", "km": "kilometer", "kg": "kilogram",
    "cm": "centimeter", "mm": "millimeter", "%": "percent", "pct": "percent", "percentage": "percent",
    "dr": "doctor", "st": "saint",
    "mr": "mister", "vs": "versus", "&": "and", "ok": "okay", "info": "information", "dollar": "usd",
    "dollars": "usd", "euro": "eur", "euros": "eur", "yen": "jpy", "rupee": "inr", "rupees": "inr",
    "tech": "technology",
}  # fmt: skip
#: Different spellings of one word, and its plural, as stems would keep them apart. Read before stemming.
ALIASES: Final = {f"{word}{plural}": f"{other}{plural}" for word, other in _SPELLINGS.items() for plural in ("s", "")}


#: A point behind one of these does not end a sentence.
ABBREVIATIONS: Final = _words(
    """mr mrs ms dr prof st jr sr rev hon gen col capt lt sgt gov sen rep pres no nos vol fig figs eq sec ch pp p ed eds
    inc ltd co corp bros dept est approx ca cf vs etc al e.g i.e u.s u.k u.n d.c a.m p.m jan feb mar apr jun jul aug
    sep sept oct nov dec mon tue wed thu fri sat sun bzw ca z.b d.h usw nr str mme mlle av"""
)

#: Openings of lines that talk to the reader and state nothing.
PREAMBLES: Final = (
    "sure", "certainly", "of course", "absolutely", "great question", "good question", "here is", "here are",
    "here's", "below is", "below are", "i hope", "hope this", "hope that", "let me know", "feel free", "as an ai",
    "in summary:", "summary:", "note:", "answer:", "final answer:", "thank you", "thanks", "you're welcome", "happy to",
    "i'd be happy", "i would be happy", "please let", "based on the evidence", "based on the provided",
    "based on the information", "according to the evidence provided", "okay", "alright",
)  # fmt: skip

#: The same in German, French, Spanish, Italian, Portuguese and Dutch, folded.
_REFUSALS_OTHER: Final = (
    "kann ich nicht helfen", "kann ich ihnen nicht helfen", "kann ich dir nicht helfen", "kann ich leider nicht",
    "kann diese frage nicht beantworten", "kann die frage nicht beantworten", "das kann ich nicht", "weiss ich nicht",
    "ich weiss es nicht", "ich kann nicht helfen", "ich kann ihnen nicht helfen", "kann ich nicht beantworten",
    "ich bin nicht in der lage", "als ki-", "als sprachmodell",
    "je ne peux pas", "je ne suis pas en mesure", "je ne sais pas", "je suis desole, mais", "je regrette, mais",
    "je ne puis", "je suis incapable de", "en tant qu'ia", "en tant que modele de langage",
    "no puedo ayudar", "no puedo responder", "no puedo proporcionar", "no puedo cumplir", "no puedo ofrecer",
    "no puedo hacer eso", "lo siento, pero", "lo siento, no puedo", "no lo se", "como modelo de lenguaje",
    "no puedo asistir", "no me es posible",
    "non posso aiutar", "non posso aiutarti", "non posso aiutarla", "non posso rispondere", "non posso fornire",
    "non sono in grado di", "mi dispiace, ma", "non lo so", "come modello linguistico",
    "nao posso ajudar", "nao posso ajuda-lo", "nao posso responder", "nao posso fornecer", "nao consigo ajudar",
    "nao sou capaz de", "sinto muito, mas", "desculpe, mas", "lamento, mas", "nao sei", "como modelo de linguagem",
    "kan ik niet helpen", "kan ik u niet helpen", "kan ik je niet helpen", "ik kan niet helpen",
    "ik kan u niet helpen", "ik kan je niet helpen", "ik kan deze vraag niet beantwoorden", "daar kan ik niet",
    "ik weet het niet", "het spijt me, maar", "ik ben niet in staat", "als taalmodel",
)  # fmt: skip
#: Phrases by which an agent declines. Compared with the folded output.
REFUSALS: Final = (
    "i cannot answer", "i can't answer", "i cannot help", "i can't help", "i cannot assist", "i can't assist",
    "i am unable to", "i'm unable to", "i am not able to", "i'm not able to", "i cannot provide", "i can't provide",
    "i cannot determine", "i can't determine", "i do not know", "i don't know", "i do not have", "i don't have",
    "i'm sorry, but", "i am sorry, but", "i apologize, but", "i apologise, but", "i'm not sure", "i am not sure",
    "as an ai", "as a language model", "cannot be determined", "no information is provided", "not enough information",
    "i must decline", "i cannot say", "i can't say", "i cannot comply", "i can't comply",
    "i won't be able to", "unable to answer",
    *_REFUSALS_OTHER,
    "unable to determine", "i cannot find", "i can't find", "i could not find", "i couldn't find", "n/a",
)  # fmt: skip

#: An output whose last word is one of these stops in the middle of a sentence.
DANGLING: Final = _words(
    """the a an and or but of to in on at by for with from into that which who whose because although while is are was
    were be been has have had will would can could should its their his her as than if when where"""
)

#: Verbs and nouns of instructions in a criterion ("mentions the price"); they say what to do, not what to find.
CRITERION_VERBS: Final = _words(
    """mention mentions mentioned include includes included including state states stated contain contains say says
    name names give gives list lists describe describes explain explains provide provides cite cites identify
    identifies specify specifies report reports must should answer output response reply text agent it correctly
    clearly explicitly"""
)
#: Openings of a criterion that forbids something, folded. The rest of the criterion is what must not appear.
PROHIBITIONS: Final = (
    "does not", "do not", "must not", "should not", "may not", "doesn't", "don't", "mustn't", "shouldn't", "never",
    "avoid", "avoids", "no mention of", "without", "free of", "no",
)  # fmt: skip

#: Words that open a sentence with a capital and name nobody.
OPENERS: Final = _words(
    """yes yeah yep nah oh wow well sure okay hey hi hello please thanks however overall additionally moreover
    furthermore
    therefore thus hence meanwhile nevertheless nonetheless according currently recently initially originally finally
    eventually interestingly fortunately unfortunately specifically generally typically usually often sometimes perhaps
    maybe similarly likewise consequently subsequently ultimately notably importantly actually basically essentially"""
)
#: Names of fields in JSON, tables and lists that say nothing by themselves.
FIELDS: Final = _words(
    """name title type kind id key value values field item items data result results answer answers response output text
    content message summary description details info note notes status label category number total count amount date
    time year place location site url link source sources list entry record unit units language"""
)
#: Members that name the tool in a tool call.
TOOL_KEYS: Final = _words("name function tool type id tool_call_id call_id role")

#: Titles before a name. Leaving one out, or adding one, does not change who is meant.
TITLES: Final = _words("sir dame dr mr mrs ms miss prof professor doctor mister rev saint st president king queen lord")

#: Words that make a sentence talk about an equation instead of stating it.
DISPUTED: Final = _words("not false wrong incorrect untrue error mistake mistaken instead never isn't")

#: Words that set two statements at different times or in contrast, so that both can hold.
CONTRAST: Final = _words(
    "before after then now until since later earlier previously formerly initially originally today yesterday but"
)
COPULAS: Final = _words("is are was were be been equals equal totals totaled totalled =")
