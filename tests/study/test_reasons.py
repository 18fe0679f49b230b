"""Why a move is a mistake: the sentences for positions drawn as diagrams, in every language."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from drawn_positions import drawn
from studies import (
    CAPTURE,
    CORNER,
    CUT,
    FAILING,
    LADDER,
    NET,
    OPEN,
    RACE,
    WORKING,
    bigger_point,
    capture,
    compared,
    corner,
    cut,
    early_pass,
    filled,
    inverted,
    ko,
    ladder,
    region,
    sente,
    study,
    variation,
)

from gtp_engine.base.languages.texts import DEFAULT, LANGUAGES, texts
from gtp_engine.go.coords import BLACK, EMPTY, WHITE
from gtp_engine.study.game_review import Reason
from gtp_engine.study.reasons.explain import choose, find_facts
from gtp_engine.study.reasons.facts import as_seen_by, find_regions_changed, find_sente
from gtp_engine.study.reasons.variation import Fact, Study, play_line

# Texts that are parts of sentences.
_PARTS = ("stones", "stonesOf", "stonesAround", "pass", "move", "after", "unplayed")
_PARTS += ("top", "left", "centre", "right", "bottom")
_PARTS += tuple(f"{row}{side}" for row in ("top", "bottom") for side in ("Left", "Right"))


def said(study: Study) -> list[str]:
    return [study.reason(fact).text for fact in choose(find_facts(study))]


# A study for each sentence, and what is said first.
SAID: dict[str, tuple[Callable[[], Study], str]] = {
    "passed": (early_pass, "It is too early to pass: D4 is worth 7 points."),
    "atari": (
        lambda: capture("F1 D4", "D4", colour=WHITE),
        "Atari: D4 saves White's 2 stones at B4; after F1, Black captures at once.",
    ),
    "catches": (lambda: ladder(*WORKING), "D5 catches White's stone at C5 in a ladder."),
    "caught": (
        lambda: ladder("G1 D5", "D5", (-0.9, 0.9), inverted(LADDER)),
        "After G1, White can catch Black's stone at C5 in a ladder.",
    ),
    "escapes": (
        lambda: ladder(*FAILING, LADDER.replace("c", "O")),
        "The ladder does not work: after D5, White's stone at C5 can run.",
    ),
    "runs": (
        lambda: ladder("C4", "G1", (-0.9, 0.0), LADDER.replace("a", "X"), WHITE),
        "Running does not help: the ladder catches White's 2 stones at C5 all the same.",
    ),
    "nets": (
        lambda: compared(NET, "C5", "G1", "D4", (-0.9, 0.9)),
        "D4 catches White's stone at C5 in a net.",
    ),
    "lost": (
        lambda: capture("F1", "D4", diagram=inverted(CAPTURE)),
        "After F1, White captures Black's 2 stones at B4, which D4 saves.",
    ),
    "taken": (lambda: capture("F1", "D4"), "Black can capture White's 2 stones at B4 with D4, but not after F1."),
    "race": (
        lambda: compared(RACE, "A2 B2 C2 A3 B3 C3", "G5 B1", "B4", (-0.9, 0.9)),
        "B4 wins the race between Black's 3 stones at B2 and White's 3 stones at B3; after G5, it is lost.",
    ),
    "eyes": (
        lambda: corner(-0.9, 0.9),
        "B1 is the vital point: it makes Black's 5 stones at C2 live; after E5, White plays there, and they die.",
    ),
    "eye": (
        lambda: corner(-0.9, 0.9, WHITE),
        "B1 is the vital point: it kills Black's 5 stones at C2; after E5, Black plays there, and they live.",
    ),
    "dies": (
        lambda: corner(-0.9, 0.9, answer="F5", diagram=OPEN),
        "Black's 5 stones at C2 live after B1, but die after E5.",
    ),
    "lives": (lambda: corner(-0.9, 0.9, WHITE, "F5", OPEN), "B1 kills Black's 5 stones at C2, which live after E5."),
    "weaker": (
        lambda: corner(0.0, 0.9, answer="F5", diagram=OPEN),
        "Black's 5 stones at C2 are safe after B1, but in danger after E5.",
    ),
    "stronger": (
        lambda: corner(-0.9, 0.0, WHITE, "F5", OPEN),
        "B1 puts Black's 5 stones at C2 in danger; after E5, they are safe.",
    ),
    "unsaved": (
        lambda: corner(-0.9, 0.0, answer="F5", diagram=OPEN),
        "Black's 5 stones at C2 may live after B1, but die after E5.",
    ),
    "kills": (
        lambda: corner(0.0, 0.9, WHITE, "F5", OPEN),
        "B1 kills Black's 5 stones at C2, which may live after E5.",
    ),
    "cut": (
        lambda: cut("A1 D4", "D4"),
        "After A1, White cuts Black's 2 stones at B4 from the 2 stones at E4; D4 prevents that.",
    ),
    "connected": (lambda: cut("A1 D3", "D3"), "D3 cuts White's 2 stones at B3 from the 2 stones at E3."),
    "koTaken": (lambda: ko("G1", "B3", WHITE), "B3 takes the ko."),
    "koEnded": (lambda: ko("G1", "B3"), "B3 ends the ko, which White can take after G1."),
    "koThreatMade": (
        lambda: ko("G5", "G1 G2 C3", is_taken=True),
        "G1 is a ko threat: White answers at G2, and Black takes the ko back at C3.",
    ),
    "koTakenInstead": (lambda: ko("B3", "G1", WHITE), "B3 takes the ko, but G1 is worth more."),
    "koEndedInstead": (lambda: ko("B3", "G1"), "B3 ends the ko, but G1 is worth more."),
    "koIgnored": (
        lambda: ko("G1 C3", "G5", is_taken=True),
        "G1 is too small as a ko threat: White ends the ko at C3.",
    ),
    "koThreat": (
        lambda: ko("G1 G2 C3", "G5", is_taken=True),
        "G1 is a ko threat that costs points: White answers at G2, and Black takes the ko back at C3.",
    ),
    "own": (lambda: filled(0.99, 0.99, 0.99), "D2 fills Black's own territory."),
    "others": (lambda: filled(-0.99, -0.99, -0.99), "D2 is in White's territory, and the stone cannot live."),
    "dame": (lambda: filled(0.0, 1.0, 0.95), "D2 is a neutral point: it gains no territory."),
    "bigger": (
        lambda: region("D2", owned=(0.0, 1.0)),
        "With C3, Black's territory in the lower left corner is 6 points bigger than after D2.",
    ),
    "smaller": (
        lambda: region("D2", owned=(-1.0, 0.0)),
        "With C3, White's territory in the lower left corner is 6 points smaller than after D2.",
    ),
    "region": (
        lambda: region("D2", owned=(-0.5, 0.5)),
        "With C3, Black has 6 points more in the lower left corner than after D2.",
    ),
    "point": (lambda: bigger_point("N13"), "The bigger point is C3, in the lower left corner."),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name: str) -> None:
    make, text = SAID[name]
    about = make()
    assert said(about)[0] == text
    fact = choose(find_facts(about))[0]
    assert fact.name == name and fact.line[0] in (about.move, about.best)
    if name in ("catches", "caught", "runs"):
        end = play_line(about.game, about.colour, fact.line)
        assert len(end) == len(fact.line) + 1 and end[-1].stone_at("C5") == EMPTY  # the line ends with the capture


def test_the_points_of_a_region_are_those_of_the_search_whose_loss_is_told() -> None:
    (fact,) = find_regions_changed(region("D2", owned=(0.0, 1.0)))
    other = region("D2", owned=(0.0, 0.8), lead=3.0)
    assert (fact.values["count"], as_seen_by(other, fact).values["count"]) == (6, 5)
    assert "is 5 points bigger" in other.reason(as_seen_by(other, fact)).text


def test_only_the_points_of_the_part_of_the_board_that_is_named_are_counted() -> None:
    assert said(region("D2", owned=(0.0, 1.0), more=" D1 D2 E1 F1")) == [
        "With C3, Black's territory in the lower left corner is 8 points bigger than after D2."
    ]
    assert said(region("D2", owned=(0.0, 1.0), lead=9.0, more=" D1 D2 E1 E2 F1 F2 G1 G2")) == [
        "With C3, Black's territory on the lower side is 14 points bigger than after D2."
    ], "too many of them are in no corner"


def test_what_changes_most_is_told_first() -> None:
    about = compared(
        """
        . . . . . . .
        . . X X . . .
        . . X X . . .
        O . . . . . .
        X . . . . . .""",
        "A1 C3 D3 C4 D4",
        "G5 B1",
        "B1",
        (-0.9, 0.9),
    )
    assert said(about) == [
        "B1 is the vital point: it makes Black's 4 stones at C4 live; after G5, White plays there, and they die.",
        "Atari: B1 saves Black's stone at A1; after G5, White captures at once.",
    ]


def test_of_a_pass_is_told_what_happens_if_nobody_plays_there() -> None:
    game, _ = drawn(CORNER)
    about = compared(CORNER, "A2 B2 C2 D2 D1", "pass", "B1", (-0.9, 0.9))
    assert said(about)[0] == "Black's 5 stones at C2 live after B1, but die if Black plays elsewhere."
    caught = Fact("caught", (), values={"stones": about.stones([game.point("A3")], BLACK)})
    assert about.reason(caught).text == "If Black plays elsewhere, White can catch Black's stone at A3 in a ladder."
    assert "juega en otra parte" in about.reason(caught).text_in("es")


def test_stones_of_several_chains_are_around_a_point() -> None:
    about = sente()

    def named(vertices: str, language: str = DEFAULT) -> str:
        return texts(language).say(about.stones(map(about.game.point, vertices.split()), WHITE))

    assert named("C3 C4 D4") == "White's 3 stones at C4"
    assert named("C3 C4 D5") == "White's 3 stones around C4"
    assert named("C3 C4 D5", "es") == "el grupo de Blanco en torno a C4 (3 piedras)"


def test_no_move_gets_the_credit_for_stones_that_both_lines_capture() -> None:
    assert said(capture("F1", "D4")) and not said(capture("F1 A1 D4", "D4"))
    own = inverted(CAPTURE)
    assert said(capture("F1", "D4", diagram=own)) and not said(capture("F1", "D4 E4 A1 D5 B1 D3", diagram=own))


def test_no_move_saves_stones_that_can_be_captured_after_it() -> None:
    assert not said(capture("F1", "E5", diagram=inverted(CAPTURE)))
    in_atari = RACE.replace(". . . O X . .", "O O . O X . .")
    about = compared(in_atari, "A2 B2 C2 A3 B3 C3", "G5 C1", "B4", (-0.9, 0.9))
    assert said(about) == ["B4 kills White's 3 stones at B3, which live after G5."], "it wins no race"


def test_a_net_is_beside_the_stones() -> None:
    diagram = """
        O X X O . . . X O
        . X . X X O O X .
        O X X O X X O O X
        . O X O O O X X .
        X O O O X X X X X
        O O . . X . O X X
        . O . X . X O O X
        X O X O X O O O O
        . X . . X O . . X"""
    far = compared(diagram, "A2", "F4", "C3", (-0.9, 0.9), WHITE)
    assert said(far) == ["White can capture Black's stone at A2 with C3, but not after F4."]


def test_chains_that_can_be_joined_are_not_cut() -> None:
    answered_elsewhere = "D3 A5 D2"
    assert said(cut("A1 D3", answered_elsewhere))[0].startswith("D3 cuts")
    joined = CUT.replace(". . . . . .\n    . . . . . .", ". . O . O .\n    . . . . . .")
    assert not said(cut("A1 D3", answered_elsewhere, diagram=joined)), "D2 joins them"


def test_a_move_that_captures_or_belongs_to_the_better_line_does_not_fill_territory() -> None:
    about = filled(0.99, 0.99, 0.99)
    line = variation(about.game, ["D4", "A1", "D2"])
    assert said(about) and not said(replace(about, better=replace(about.better, line=line.line, games=line.games)))
    game, _ = drawn(CAPTURE)
    moves = {vertex: variation(game, [vertex], rest=0.99) for vertex in ("D4", "D5", "E5")}
    assert said(study(moves["D5"], moves["E5"])) == ["D5 fills Black's own territory."]
    assert not said(study(moves["D4"], moves["E5"]))


def test_sente() -> None:
    (fact,) = find_sente(sente())
    assert fact.line == (sente().best, 0, sente().game.point("D3"))
    assert sente().reason(fact).text == (
        "D4 is sente: if White does not answer, Black gains 15 points more; after A1 only 4."
    )
    for better, played in ((15.0, 10.0), (8.0, 4.0), (None, 4.0), (15.0, None), (77.0, 29.0)):
        assert not [*find_sente(sente(better, played))]


def test_a_bigger_point_is_told_if_it_is_in_another_part_of_the_board_and_brings_enough() -> None:
    fact = find_facts(bigger_point("N13"))[-1]
    assert fact.name == "point" and not fact.holds(bigger_point("N13", 2.9))
    enough = replace(fact, claim=fact.claim and fact.claim._replace(loss=None))
    assert enough.holds(bigger_point("N13", 1.6)), "a fifth of its gain has to be kept"
    assert not enough.holds(bigger_point("N13", 1.5))
    for other in (bigger_point("D2"), bigger_point("pass"), bigger_point("N13", 2.9)):
        assert "point" not in [fact.name for fact in find_facts(other)]


@cache
def all_reasons() -> list[Reason]:
    """A reason with each sentence."""
    found = [(about, choose(find_facts(about))[0]) for about in (make() for make, _ in SAID.values())]
    found.append((sente(), *find_sente(sente())))
    found.append((sente(), Fact("also", (), values={"move": "C5"})))
    found.append((sente(), Fact("found", (), values={"move": "C5"})))
    found.append((sente(), Fact("missed", (), values={"number": 2, "first": "12 C5", "last": "14 G1"})))
    return [about.reason(fact) for about, fact in found]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_can_be_said_in_every_language(language: str) -> None:
    """tests/base/test_texts.py checks that all languages fill in the same values."""
    told = {each.sentence.name for each in all_reasons()}
    parts = {f"reason.{part}" for part in _PARTS}
    assert told | parts == {name for name in texts().names if name.startswith("reason.")}
    for each in all_reasons():
        text = each.text_in(language)
        assert not re.search(r"[{}]|None|Phrase", text)
        assert re.search(r"B[1-4]|D[2-5]|A1|G1|C[35]|E4", text), "a sentence names a point"
        assert re.search(r"[.。]$", text)
        assert (text == each.text) == (language == DEFAULT), "nothing is left in English"
