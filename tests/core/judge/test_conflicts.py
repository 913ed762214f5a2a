import pytest

from api.core.judge.align import align
from api.core.judge.conflicts import Faults, find_faults
from api.core.judge.index import Evidence
from api.core.judge.parse import parse
from api.core.judge.slots import best_rival, full_name


def faults(claim: str, *evidence: str, derived: frozenset[float] = frozenset()) -> Faults:
    index = Evidence(evidence)
    parsed = parse(claim)
    return find_faults(claim, parsed, align(parsed, index), index, derived)


@pytest.mark.parametrize(
    ("claim", "evidence", "conflict"),
    [
        ("The crew size was 5.", "The crew size was 4.", "5 is not 4"),
        ("The crew size was five.", "The crew size was 4.", "five is not 4"),
        ("It has 9 rooms and 3 doors.", "It has 4 rooms and 3 doors.", "9 is not 4"),
        ("The wall is 640 miles long.", "The wall is 640 km long.", "640 miles is not 640 km"),
        ("The fine was €40.", "The fine was $40.", "€40 is not $40"),
        ("Over 50 people sailed.", "Only 12 people sailed.", "at least 50 is not 12"),
        ("It launched on March 2, 2024.", "It launched on 2024-03-01.", "March 2 2024 is not 2024-03-01"),
        ("It opens at 9:30 each day.", "It opens at 9:00 each day.", "9:30 is not 9:00"),
        ("The ship left Oslo in fog.", "The ship left Bergen in fog.", "Oslo is not Bergen"),
        ("The ship left Port Oslo in fog.", "The ship left Port Bergen in fog.", "Port Oslo is not Port Bergen"),
        ("The door was closed at night.", "The door was open at night.", "closed is the opposite of open"),
        ("Prices rose in spring.", "Prices fell in spring.", "rose is the opposite of fell"),
        ("The gate was opened.", "The gate was closed.", "opened is the opposite of closed"),
        ("It took about 4 million days.", "It took 3.2 million days.", "about 4 million is not 3.2 million"),
        ("The bridge is unsafe now.", "The bridge is safe now.", "unsafe is the opposite of safe"),
        ("The wet season ends in May and ends in June.", "The wet season begins in May and ends in June.",
         "ends is the opposite of begins"),
        ("The door is not open.", "The door is open.", 'the claim negates "open", the evidence does not'),
        ("The door is open.", "The door is not open.", 'the evidence negates "open", the claim does not'),
        ("All crews on that voyage had 4 members.", "All crews on that voyage had one member.", "4 is not one"),
        ("All crews on that voyage had one member.", "All crews on that voyage had 4 members.", "one is not 4"),
        ("The fee is monthly.", "The fee is yearly.", "monthly is the opposite of yearly"),
        ("The server is online.", "The server is offline.", "online is the opposite of offline"),
        ("The warranty lasts 24 years.", "The warranty lasts 24 months.", "24 years is not 24 months"),
        ("La tour Eiffel n'est pas en acier.", "La tour Eiffel est en acier.",
         'the claim negates "acier", the evidence does not'),
        ("The bar contains no nuts.", "The bar contains nuts.", 'the claim negates "nuts", the evidence does not'),
    ],
)  # fmt: skip
def test_hard(claim: str, evidence: str, conflict: str) -> None:
    assert conflict in faults(claim, evidence).hard


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The crew size was four.", "The crew size was 4."),
        ("About 1,000 trees fell.", "About 1000 trees fell."),
        ("It launched in March 2024.", "It launched on 2024-03-01."),
        ("It launched in 2024.", "It launched on 2024-03-01."),
        ("The door is not closed today.", "The door is open today."),
        ("The crew sailed.", "The crew sailed, but did not land."),
        ("The crew sailed on time.", "Nobody failed. The crew sailed on time."),
        ("One day the crew sailed.", "The crew of 4 sailed."),
        ("The crew was not small.", "The crew was not small."),
        ("The door was never not open.", "The door was open."),
        ("The door is open.", "The door is open. It is said that the door was not open before."),
        ("The product does not contain nuts.", "The product contains no nuts."),
        ("The product contains no nuts.", "The product does not contain any nuts."),
        ("Das Produkt enthält keine Nüsse.", "Das Produkt enthält keine Nüsse."),
        ("He does not eat meat or fish.", "He eats no meat and does not eat fish."),
        ("The warranty lasts 24 months.", "The warranty lasts two years."),
        ("The warranty lasts 2 years.", "The warranty lasts 24 months."),
        ("The trip takes 48 hours by day.", "The trip takes two days by day."),
    ],
)
def test_no_conflict(claim: str, evidence: str) -> None:
    assert faults(claim, evidence).hard == []


def test_a_number_found_nowhere_and_with_no_rival_is_soft() -> None:
    found = faults("The crew of 9 sailed north.", "The crew sailed north.")
    assert (found.hard, found.soft) == ([], ["9"])


def test_a_number_of_another_kind_is_no_rival() -> None:
    assert faults("The crew of the ship paid $40.", "The crew of the ship waited 3 weeks.").hard == []


def test_a_number_that_stands_elsewhere_conflicts_only_with_a_near_copy() -> None:
    evidence = ("The red ship from Oslo had 4 masts.", "The blue ship had 3 masts.")
    assert faults("The red ship from Oslo had 3 masts.", *evidence).hard == ["3 is not 4"]
    assert faults("Ships with 3 masts were seen.", *evidence).hard == []


def test_a_name_that_stands_elsewhere_conflicts_only_with_a_near_copy() -> None:
    evidence = ("The red ship left Oslo in thick fog.", "The blue ship left Bergen.")
    assert faults("The red ship left Bergen in thick fog.", *evidence).hard == ["Bergen is not Oslo"]
    assert faults("A ship came from Bergen.", *evidence).hard == []


def test_a_copy_with_one_word_from_elsewhere_conflicts_however_short_it_is() -> None:
    evidence = ("The crew worked with Tom Watkins.", "Later Tom Goss came. Goss stayed.")
    assert faults("The crew worked with Tom Goss.", *evidence).hard == ["Tom Goss is not Tom Watkins"]


def test_a_copy_with_a_name_from_elsewhere_and_no_rival_is_soft() -> None:
    evidence = ("The red ship sailed north from June to fall.", "Layne stayed here.")
    found = faults("The red ship sailed north from June to Layne.", *evidence)
    assert (found.hard, found.soft) == ([], ["Layne"])


def test_a_negation_over_a_word_with_an_opposite_in_the_same_sentence_counts() -> None:
    claim, evidence = "It is not a large ship among smaller boats.", "It is a large ship among smaller boats."
    assert faults(claim, evidence).hard == ['the claim negates "large", the evidence does not']


def test_a_result_of_the_output_itself_needs_no_evidence() -> None:
    claim, evidence = "The crew of 9 sailed.", "The crew of 3 sailed."
    assert faults(claim, evidence).hard == ["9 is not 3"]
    assert faults(claim, evidence, derived=frozenset((9.0,))).hard == []


def test_without_any_sentence_in_common_all_facts_are_soft() -> None:
    assert faults("Bananas cost 5 in Peru.", "The crew sailed.").soft == ["5", "Peru"]


def test_the_rival_is_the_one_with_the_same_neighbours() -> None:
    claim, other = parse("9 rooms"), parse("3 doors and 4 rooms")
    rival, common = best_rival(claim.content, 0, other.content, other.numbers)
    assert (rival.value, common) == (4.0, 1)


def test_a_full_name_is_all_its_words() -> None:
    names = parse("He met Ada King Lovelace and Byron.").names
    assert full_name(names, names[1]) == "Ada King Lovelace"
