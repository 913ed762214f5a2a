"""Pure: pairs of opposites. `OPPOSITES` maps a stem or a function word to the sorted tuple of its opposites."""

from __future__ import annotations

from typing import Final

from api.core.judge.lexicon import STOP
from api.core.judge.stem import stem

#: One group per line (a backslash continues a line). Every word left of the bar is opposed to every word right of it.
_GROUPS: Final = """
increase increased increases increasing rise rises rose risen rising grow grows grew grown growing gain gained \
gains climb climbed soar soared surge surged jump jumped expand expanded expands | decrease decreased decreases \
decreasing fall falls fell fallen falling shrink shrinks shrank shrunk shrinking decline declined declines drop \
dropped drops plunge plunged contract contracted
raise raised raises lift lifted boost boosted | lower lowered lowers cut cuts reduce reduced reduces reducing
up upward upwards | down downward downwards
high higher highest | low lower lowest
more most majority | less least fewer fewest minority
maximum max | minimum min
above over | below under
before prior | after
early earlier earliest | late later latest
first | last final
win wins won winning victory victories winner | lose loses lost losing defeat defeats loss losses loser
accept accepts accepted accepting acceptance approve approves approved approval | reject rejects rejected \
rejecting rejection refuse refused deny denied decline
allow allows allowed allowing permit permits permitted enable enabled | ban bans banned prohibit prohibits \
prohibited forbid forbids forbidden block blocked disallow disable disabled
support supports supported favor favour favored favoured endorse endorsed | oppose opposes opposed opposing
agree agrees agreed agreement | disagree disagrees disagreed disagreement
succeed succeeds succeeded success successful successfully | fail fails failed failure unsuccessful unsuccessfully
positive positively | negative negatively
good better best | bad worse worst poor
improve improves improved improvement | worsen worsens worsened deteriorate deteriorated
strong stronger strongest strengthen strengthened | weak weaker weakest weaken weakened
large larger largest big bigger biggest huge | small smaller smallest little tiny
long longer longest lengthy lengthen | short shorter shortest brief shorten
old older oldest elderly ancient | new newer newest young younger youngest modern
fast faster fastest quick quicker rapid quickly rapidly | slow slower slowest slowly
accelerate accelerated accelerates | slow slowed decelerate decelerated
male man men boy boys | female woman women girl girls
father fathers | mother mothers
son sons | daughter daughters
brother brothers | sister sisters
husband husbands | wife wives
uncle | aunt
king kings | queen queens
he him his | she her hers
north northern | south southern
east eastern | west western
northeast northeastern | southwest southwestern
northwest northwestern | southeast southeastern
left | right
top upper | bottom lower
inside interior internal indoor indoors inner inward | outside exterior external outdoor outdoors outer outward
front | back rear
domestic national | foreign international
public publicly | private privately
import imports imported importing | export exports exported exporting
buy buys bought buying purchase purchased acquire acquired | sell sells sold selling
lend lent | borrow borrowed
open opens opened opening reopen reopened | close closes closed closing shut
start starts started starting begin begins began begun launch launched | end ends ended ending finish finished \
finishes stop stops stopped
enter enters entered | leave leaves left exit exits exited
arrive arrives arrived arrival | depart departs departed departure leave
join joins joined | leave leaves left quit
appear appears appeared | disappear disappears disappeared vanish vanished
alive living | dead deceased
live lives lived survive survived | die dies died
born birth | died death
love loves loved like likes liked | hate hates hated dislike dislikes disliked
happy pleased glad satisfied excited | sad unhappy disappointed upset dissatisfied
true truly | false
correct correctly right accurate | incorrect incorrectly wrong inaccurate
safe safely | dangerous unsafe hazardous
legal lawful | illegal unlawful
guilty | innocent
convicted | acquitted
possible | impossible
likely | unlikely
able | unable
same identical similar | different dissimilar
always | never
all everyone everybody everything | none nobody nothing
many | few
major | minor
profit profits profitable | loss losses unprofitable
surplus | deficit
credit | debit
asset assets | liability liabilities
add adds added adding | remove removes removed removing delete deleted subtract
include includes included including | exclude excludes excluded excluding
present presence | absent absence
past | future
day daytime | night nighttime
morning | evening
dawn sunrise | dusk sunset
summer | winter
spring | autumn
hot hotter hottest warm warmer heat heating | cold colder coldest cool cooler cooling
wet wetter rainy humid | dry drier arid
rich richer wealthy | poor poorer
easy easier easily | hard harder difficult
simple simpler | complex complicated
full | empty
heavy heavier | light lighter
bright brighter | dim dark darker
dark | light
black | white
single | multiple
married | unmarried divorced
permanent permanently | temporary temporarily
active actively | inactive passive passively
effective effectively | ineffective
stable | unstable
online | offline
known | unknown
popular | unpopular
significant significantly | insignificant
beneficial benefit benefits | harmful harm harms
cause causes caused | prevent prevents prevented
promote promotes promoted stimulate activate activates activated | inhibit inhibits inhibited suppress suppressed \
deactivate
enhance enhances enhanced | diminish diminished impair impaired
attack attacks attacked | defend defends defended
confirm confirms confirmed | deny denies denied refute refuted
remember remembered | forget forgot forgotten
find finds found | lose lost
teacher teachers | student students pupil
employer employers | employee employees
parent parents | child children
buyer buyers | seller sellers
plaintiff plaintiffs | defendant defendants
optimistic optimism | pessimistic pessimism
with | without
mandatory compulsory required obligatory | optional voluntary
primary | secondary
senior | junior
urban | rural
hero heroes | villain villains
friend friends ally allies | enemy enemies
lead leads led leading | trail trails trailed trailing
cheap cheaper cheapest inexpensive | expensive costly dearer pricier
encourage encourages encouraged | discourage discourages discouraged
advantage advantages | disadvantage disadvantages
daily | weekly monthly yearly annual annually
weekly | monthly yearly annual annually
monthly | yearly annual annually quarterly
hourly | daily
deep deeper deepest | shallow shallower
wide wider widest broad | narrow narrower narrowest
thick thicker | thin thinner
tall taller tallest | short shorter
near nearer nearest close closer | far farther farthest distant
sharp | blunt
smooth | rough
clean | dirty
loud louder | quiet quieter silent
visible | invisible hidden
natural | artificial synthetic
vertical vertically | horizontal horizontally
clockwise | counterclockwise anticlockwise
input inputs | output outputs
upload uploaded | download downloaded
online | offline
wireless | wired
manual manually | automatic automatically automated
hire hires hired | fire fires fired dismissed
promote promoted | demote demoted
build builds built construct constructed | demolish demolished destroy destroyed
create creates created | destroy destroys destroyed
connect connected | disconnect disconnected
attach attached | detach detached
lock locked | unlock unlocked
load loaded | unload unloaded
ascend ascended ascending | descend descended descending
advance advanced | retreat retreated
upgrade upgraded | downgrade downgraded
victim victims | perpetrator perpetrators
liberal | conservative
democrat democrats democratic | republican republicans
odd | even
solid | liquid
acid acidic | alkaline
carnivore carnivores carnivorous | herbivore herbivores herbivorous
predator predators | prey
host hosts | guest guests
master | servant
optimist | pessimist
defence defense defensive | offence offense offensive
frequent frequently often | rare rarely infrequent seldom
common | rare uncommon
partial partially partly | complete completely entire entirely total totally
abundant plentiful | scarce
acquire acquired | divest divested
praise praised | criticize criticized criticise criticised
strict strictly | lenient loose
voluntary voluntarily | forced
free | paid
fresh | stale rotten
healthy | sick unhealthy ill
calm | stormy turbulent
brave | cowardly
generous | stingy
polite | rude
lucky | unlucky
north-facing | south-facing
freeze freezes froze frozen freezing | melt melts melted thaw thawed boil boiled
inhale | exhale
ceiling | floor
entrance | exit
departure | arrival
question | answer
winner winners | loser losers
majority | minority
peace | war
"""


def key(word: str) -> str:
    """The form in which a word is looked up: function words as they are, all others stemmed."""
    return word if word in STOP else stem(word)


def _build() -> dict[str, tuple[str, ...]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        left, right = ([key(word) for word in side.split()] for side in line.split("|"))
        for one in left:
            for other in right:
                if one != other:
                    table.setdefault(one, set()).add(other)
                    table.setdefault(other, set()).add(one)
    return {word: tuple(sorted(others)) for word, others in table.items()}


OPPOSITES: Final = _build()
