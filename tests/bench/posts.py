"""Pure. Made-up blog posts of 400 words, the same on every machine, for timing site builders."""

import random
from dataclasses import dataclass

WORDS = 400
_VOCABULARY = (
    "agent answer claim cluster evidence judge majority minority model number output quorum reason risk score signal "
    "source swarm task token verdict vote weight window the a of and to in that with for from by on is are was were has"
).split()


@dataclass(frozen=True, slots=True)
class Post:
    """One post. `body` is Markdown that every builder reads alike: headings, emphasis, a list, a table, code."""

    slug: str
    title: str
    description: str
    date: str
    body: str


def posts(count: int) -> list[Post]:
    """`count` posts, dated one a day from 2020-01-01 (months of 28 days, years of 336)."""
    return [_post(number) for number in range(count)]


def _post(number: int) -> Post:
    chance = random.Random(number)
    words = chance.choices(_VOCABULARY, k=WORDS)
    pieces = [" ".join(words[at : at + 40]).capitalize() + "." for at in range(0, WORDS, 40)]
    rows = "\n".join(f"| {word} | {chance.randrange(1000)} |" for word in words[:4])
    items = "\n".join(f"- **{word}** and *{other}*" for word, other in zip(words[4:8], words[8:12], strict=True))
    code = f"def {words[0]}_{number}(value: int) -> str:\n    return str(value + {number})  # {words[1]}"
    body = (
        f"{pieces[0]}\n\n{pieces[1]}\n\n## First {words[2]}\n\n{pieces[2]} It has `code`.\n\n{pieces[3]}\n\n{items}\n\n"
        f"## Second {words[3]}\n\n{pieces[4]}\n\n```python\n{code}\n```\n\n{pieces[5]}\n\n{pieces[6]}\n\n"
        f"| word | count |\n|---|---|\n{rows}\n\n## Third {words[5]}\n\n{pieces[7]}\n\n> {pieces[8]}\n\n{pieces[9]}\n"
    )
    day = f"{2020 + number // 336}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"
    title = f"Post {number} on the {words[6]} of the {words[7]}"
    return Post(f"post-{number:04}", title, f"{title}: a made-up text that site builders are timed with.", day, body)
