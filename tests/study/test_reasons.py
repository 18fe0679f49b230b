"""Why a move is a mistake: what is said on drawn positions, and what is not said where it does not hold."""

import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from threading import Barrier

import numpy as np
import pytest
from drawn_positions import drawn
from reviews import D4, E5, F6, G7, game_of, loss, reason, report

from gtp_engine.base.languages.texts import DEFAULT, LANGUAGES, texts
from gtp_engine.go.board import Board
from gtp_engine.go.coords import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.ladders import find_ladders
from gtp_engine.go.regions import chains_of
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits
from gtp_engine.study.game_review import Reason
from gtp_engine.study.move_review import MoveReview, Worth
from gtp_engine.study.reasons.explain import (
    choose,
    explain,
    facts_about,
    find_facts,
    next_to_explain,
    study_in,
    study_of,
    with_threats,
)
from gtp_engine.study.reasons.facts import (
    as_seen_by,
    find_connections,
    find_early_pass,
    find_filled,
    find_missed_atari,
    find_regions_changed,
    find_sente,
)
from gtp_engine.study.reasons.fates import capture_line, find_fates
from gtp_engine.study.reasons.ko_facts import find_ko
from gtp_engine.study.reasons.ladder_facts import find_ladder_facts
from gtp_engine.study.reasons.variation import Claim, Fact, Study, Variation, play_line, searched_line
from gtp_engine.study.review_data import to_json
from gtp_engine.study.review_sgf import annotated
from gtp_engine.study.searches import Searches

# Texts that are parts of sentences.
_PARTS = ("stones", "stonesOf", "pass", "top", "left", "centre", "right", "bottom")
_PARTS += tuple(f"{row}{side}" for row in ("top", "bottom") for side in ("Left", "Right"))


def variation(
    game: Game,
    line: Iterable[str | int],
    owned: dict[str, float] | None = None,
    *,
    rest: float = 0.0,
    lead: float = 0.0,
    winrate: float = 0.5,
    gain: float | None = None,
) -> Variation:
    """A line of vertices or points; `owned` has the ownership of vertices in a text, `rest` that of all others."""
    points = tuple(game.point(vertex) for vertex in line)
    games = play_line(game, game.to_move, points)
    assert len(games) == len(points) + 1
    ownership = np.full((game.height, game.width), rest, np.float32)
    for vertices, value in (owned or {}).items():
        for vertex in vertices.split():
            point = game.point(vertex)
            ownership[point // (game.width + 1) - 1, point % (game.width + 1) - 1] = value
    return Variation(points, games, ownership, lead, winrate, gain)


def study(played: Variation, better: Variation) -> Study:
    return Study(played.games[0].to_move, played, better)


def said(study: Study) -> list[str]:
    return [study.reason(fact).text for fact in choose(find_facts(study))]


def inverted(diagram: str) -> str:
    """The same with Black's stones white and White's black."""
    return diagram.translate(str.maketrans("XO", "OX"))


def searches(visits: int = 8, **options: Callable[[], bool]) -> Searches:
    return Searches(UniformEvaluator(8), SearchParameters(), Limits(visits=visits), 1, **options)


# Black's five stones in the corner live with a move at B1, and die if White plays there.
CORNER = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    O O O O . . .
    X X X X O . .
    . . . X O . ."""
# The same five stones may run out over E1.
OPEN = CORNER.replace(". . . X O . .", ". . . X . . .")
CAPTURE = """
    . . . . . .
    . X X . . .
    X O O a . .
    . X X . . .
    . . . . . .
    b . . . . ."""
LADDER = """
    . . . . . . .
    . X X . . . .
    . X O a . . .
    . . b X . . .
    . c . . . . .
    . . . . . . .
    . . . . . . ."""
CUT = """
    . . . . . .
    . X X . X X
    . O O . O O
    . . . . . .
    . . . . . ."""
NET = """
    . . . . . . .
    . . X X . . .
    . X O . . . .
    . X . . . . .
    . . X . . . .
    . . . . . . .
    . . . . . . ."""
# Whoever moves first takes the other's three stones.
RACE = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . X X . .
    O O O X X . .
    X X X O O . .
    . . . O X . ."""
# White takes the ko at B3; if Black connects there it is over.
KO = """
    . . . . . . .
    . X O . . . .
    X . X O . . .
    . X O . . . .
    . . . . . . ."""
EMPTY_BOARD = "\n".join([". " * 13] * 13)


def compared(
    diagram: str,
    stones: str,
    played: str,
    better: str,
    owned: tuple[float, float],
    colour: int = BLACK,
    **better_values: float,
) -> Study:
    """A study of two lines, with the owner of some points after the move played and after the better one."""
    game, _ = drawn(diagram, colour)
    return study(
        variation(game, played.split(), {stones: owned[0]}),
        variation(game, better.split(), {stones: owned[1]}, **better_values),
    )


def corner(
    played: float, better: float, colour: int = BLACK, answer: str = "B1", diagram: str = CORNER, **values: float
) -> Study:
    """A study of E5 instead of B1."""
    return compared(diagram, "A2 B2 C2 D2 D1", f"E5 {answer}", "B1", (played, better), colour, **values)


def capture(
    played: str, better: str, owned: tuple[float, float] = (-1.0, 1.0), colour: int = BLACK, diagram: str = CAPTURE
) -> Study:
    return compared(diagram, "B4 C4", played, better, owned, colour)


def ladder(played: str, better: str, owned: tuple[float, float], diagram: str = LADDER, colour: int = BLACK) -> Study:
    return compared(diagram, "C5 C4", played, better, owned, colour)


def region(played: str, better: str = "C3", owned: tuple[float, float] = (-0.2, 0.8), lead: float = 6.0) -> Study:
    return compared(EMPTY_BOARD, "A1 B1 C1 A2 B2 C2", played, better, owned, lead=lead)


def cut(played: str, better: str, rest: float = 0.55) -> Study:
    game, _ = drawn(CUT)
    return study(variation(game, played.split(), rest=-0.3), variation(game, better.split(), rest=rest))


def filled(owned: float, after: float, around: float, rest: float = 0.0) -> Study:
    """A study of D2, with the owner of the point after the better move and after D2, and that of its neighbours."""
    game, _ = drawn(CUT)
    near = {} if rest else {"C2 E2 D1 D3": around}
    better = variation(game, ["D4"], {"D2": owned, "C2 E2 D1 D3": around})
    return study(variation(game, ["D2"], {"D2": after, **near}, rest=rest), better)


def ko(played: str, better: str, colour: int = BLACK, *, is_taken: bool = False) -> Study:
    """A study of two lines in KO, before White takes it or afterwards."""
    game, _ = drawn(KO, WHITE if is_taken else colour)
    if is_taken:
        game.play(WHITE, "B3")
    return study(variation(game, played.split()), variation(game, better.split()))


def early_pass(played: str = "pass", lead: float = -4.0) -> Study:
    game, _ = drawn(CUT)
    return study(variation(game, [played], lead=lead), variation(game, ["D4"], lead=3.0))


WORKING, FAILING = ("G1", "D5", (-0.9, 0.9)), ("D5 C4 C3", "G7", (-0.9, 0.0))
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
        "G1 lets White catch Black's stone at C5 in a ladder.",
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
        "B4 wins the race between Black's 3 stones at B2 and White's 3 stones at B3; G5 loses it.",
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
        "B1 puts Black's 5 stones at C2 in danger, which are safe after E5.",
    ),
    "hopeless": (
        lambda: corner(-0.9, 0.0, answer="F5", diagram=OPEN),
        "Black's 5 stones at C2 probably die after E5, but have a chance after B1.",
    ),
    "hopeful": (
        lambda: corner(0.0, 0.9, WHITE, "F5", OPEN),
        "B1 probably kills Black's 5 stones at C2, which have a chance after E5.",
    ),
    "cut": (
        lambda: cut("A1 D4", "D4"),
        "After A1, White cuts Black's 2 stones at B4 from 2 stones at E4; D4 prevents that.",
    ),
    "connected": (lambda: cut("A1 D3", "D3"), "D3 cuts White's 2 stones at B3 from 2 stones at E3."),
    "koTaken": (lambda: ko("G1", "B3", WHITE), "B3 takes the ko."),
    "koEnded": (lambda: ko("G1 B3", "B3"), "B3 ends the ko, which White takes after G1."),
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
        "With C3, Black's territory in the lower left corner is 6 points bigger than with D2.",
    ),
    "smaller": (
        lambda: region("D2", owned=(-1.0, 0.0)),
        "With C3, White's territory in the lower left corner is 6 points smaller than with D2.",
    ),
    "region": (
        lambda: region("D2", owned=(-0.5, 0.5)),
        "C3 is worth 6 points more in the lower left corner than D2.",
    ),
    "elsewhere": (
        lambda: region("N13"),
        "There are bigger points elsewhere: C3 is worth 6 points more in the lower left corner.",
    ),
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


def in_return() -> Study:
    """A study of a move that brings six points in one corner, and three in all."""
    return region("D2", owned=(0.0, 1.0), lead=3.0)


def test_what_a_region_costs_elsewhere_is_told_too() -> None:
    (fact,) = find_regions_changed(in_return())
    text = "With C3, Black's territory in the lower left corner is 6 points bigger than with D2."
    assert in_return().reason(fact).text == f"{text} In return, Black has 3 points fewer elsewhere."
    other = region("D2", owned=(0.0, 0.8), lead=1.8)  # the search whose loss is told
    seen = as_seen_by(other, fact)
    assert [round(amount, 3) for amount in seen.amounts] == [4.8, 3.0]
    assert "is 5 points bigger" in other.reason(seen).text
    assert len(as_seen_by(region("D2", lead=4.5), fact).amounts) == 1, "less than two points are not told"


def test_moves_that_have_nothing_to_do_with_a_ko() -> None:
    beside, cannot_connect = ko("G1 G2", "B3"), ko("G1 B3", "C1")
    not_answered, elsewhere = ko("G1 pass C3", "G5", is_taken=True), ko("G1 G2 G3", "G5", is_taken=True)
    assert nothing(find_ko, beside, cannot_connect, not_answered, elsewhere)


def sente(better: float | None = 15.0, played: float | None = 4.0) -> Study:
    game, _ = drawn(CUT)
    about = study(variation(game, ["A1"], gain=played), variation(game, ["D4"], gain=better))
    return replace(about, better=replace(about.better, threat=(game.point("D3"),)))


def test_sente() -> None:
    (fact,) = find_sente(sente())
    assert fact.line == (sente().best, 0, sente().game.point("D3"))
    assert sente().reason(fact).text == (
        "D4 is sente: if White does not answer, Black gains 15 points more; after A1 only 4."
    )
    for better, played in ((15.0, 10.0), (8.0, 4.0), (None, 4.0), (15.0, None)):
        assert not [*find_sente(sente(better, played))]


@cache
def all_reasons() -> list[Reason]:
    """A reason with each sentence."""
    found = [(about, choose(find_facts(about))[0]) for about in (make() for make, _ in SAID.values())]
    found.append((sente(), *find_sente(sente())))
    found.append((in_return(), *find_regions_changed(in_return())))
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
        assert re.search(r"B[134]|D[2-5]|A1|G1|C[35]|E4", text), "a sentence names a point"
        assert re.search(r"[.。]$", text)
        assert (text == each.text) == (language == DEFAULT), "nothing is left in English"


# What is not said.


def nothing(find: Callable[[Study], Iterable[Fact]], *studies: Study) -> bool:
    return not [fact for about in studies for fact in find(about)]


def test_groups_that_stay_as_they_are() -> None:
    assert nothing(find_fates, corner(0.5, 0.9, answer="F5", diagram=OPEN), corner(1.0, 0.9))
    (fact,) = find_fates(corner(-0.9, 0.9, WHITE, "F5", OPEN))
    assert fact.line == corner(-0.9, 0.9, WHITE).better.line


def test_chains_near_each_other_are_one_group_and_a_single_stone_is_none() -> None:
    apart, _ = drawn("""
        . . . . . . .
        X . X . . . X
        . . . . . . X
        . . . . . . .""")
    both = study(variation(apart, ["D1"], rest=-0.9), variation(apart, ["E1"], rest=0.9))
    assert sorted(len(fact.points) for fact in find_fates(both)) == [2, 2]
    single = study(variation(apart, ["D1"], {"A3": -0.9}), variation(apart, ["E1"], {"A3": 0.9}))
    assert nothing(find_fates, single)


def test_stones_that_both_lines_capture_or_that_are_dead_anyhow() -> None:
    assert nothing(find_fates, capture("F1 F2 D4", "D4", (1.0, 1.0)), capture("F1", "D4", (1.0, 1.0)))


def test_a_capture_is_told_with_the_line_that_proves_it() -> None:
    about = capture("F1", "D4", diagram=inverted(CAPTURE))
    (fact,) = find_fates(about)
    assert (fact.name, fact.line) == ("lost", (about.move, about.best)), "the line of the search has no capture"
    game, at = drawn(inverted(CAPTURE), WHITE)
    (chain,) = (chain for chain in chains_of(game.board[0]) if chain.colour == BLACK)
    assert capture_line(game, chain) == (at["a"],)
    game.play(WHITE, at["b"])
    assert capture_line(game, chain) is None, "it runs"


def test_what_another_search_does_not_see_is_not_said() -> None:
    about, same, other = corner(-0.9, 0.9), corner(-0.7, 0.7), corner(0.5, 0.9)
    assert [fact.name for fact in facts_about(searches(), [about, same])] == ["eyes"]
    assert not facts_about(searches(), [about, other])
    claim = Claim(frozenset((about.move,)), better=-0.5, played=0.5, change=0.0)
    assert claim.holds(about) and not claim._replace(change=0.1).holds(about)


def test_an_atari_that_is_not_missed() -> None:
    taken_later, given_up = capture("F1 E1 E6 D4", "D4", colour=WHITE), capture("F1 D4", "E1", colour=WHITE)
    assert nothing(find_missed_atari, taken_later, given_up)


def test_ladders_that_do_not_count() -> None:
    not_attacked, search_disagrees = ladder("G1", "E2", (-0.9, 0.9)), ladder("G1", "D5", (-0.9, -0.9))
    white = inverted(LADDER)
    not_caught, lost_anyhow = ladder("G1 G2", "D5", (-0.9, 0.9), white), ladder("G1 D5", "D5", (-0.9, -0.9), white)
    works = ladder(*FAILING)
    running = LADDER.replace("a", "X")
    lives, stays = ladder("C4", "G1", (0.9, 0.0), running, WHITE), ladder("G1", "C4", (-0.9, 0.0), running, WHITE)
    assert nothing(find_ladder_facts, not_attacked, search_disagrees, not_caught, lost_anyhow, works, lives, stays)


def test_threads_that_read_ladders_at_once_share_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    about = ladder(*WORKING)
    both, used = Barrier(2), []

    def meet(board: Board, workspace: np.ndarray, caught: np.ndarray, working: np.ndarray) -> None:
        both.wait(60)
        used.append(workspace)
        find_ladders(board, workspace, caught, working)

    monkeypatch.setattr("gtp_engine.study.reasons.ladder_facts.find_ladders", meet)
    with ThreadPoolExecutor(2) as threads:
        found = [*threads.map(lambda each: [fact.name for fact in find_ladder_facts(each)], (about, about))]
    assert found == [["catches"]] * 2
    assert used and not any(np.shares_memory(*pair) for pair in zip(used[::2], used[1::2], strict=True))


def test_chains_that_nobody_cuts_or_that_do_not_matter() -> None:
    assert nothing(find_connections, cut("A1 D4", "D4", rest=0.4), cut("A1 D3", "D4"), cut("A1 D4", "B1"))
    assert [fact.line for fact in find_connections(cut("A1 D3", "D3"))] == [cut("A1 D3", "D3").better.line]


def test_points_that_are_not_settled() -> None:
    assert nothing(find_filled, filled(0.5, 1.0, 0.9), filled(0.0, 1.0, 0.5))
    assert nothing(find_filled, filled(0.0, 1.0, 0.95, rest=-0.95)), "the move decides who owns the neighbours"


def test_a_pass_that_costs_little_and_a_move() -> None:
    assert nothing(find_early_pass, early_pass(lead=2.5), early_pass("A1"))


def test_a_pass_is_told_as_a_word() -> None:
    game, _ = drawn(CORNER)
    about = compared(CORNER, "A2 B2 C2 D2 D1", "pass", "B1", (-0.9, 0.9))
    assert said(about)[0] == "Black's 5 stones at C2 live after B1, but die after a pass."
    caught = Fact("caught", (), values={"stones": about.stones([game.point("A3")], BLACK)})
    assert about.reason(caught).text == "A pass lets White catch Black's stone at A3 in a ladder."


def test_regions_that_do_not_count() -> None:
    far_from_both, too_few_points = region("N13", "N12"), region("D2", owned=(0.6, 0.8))
    small_part_of_the_loss = region("D2", lead=20.0)
    assert nothing(find_regions_changed, far_from_both, too_few_points, small_part_of_the_loss)


def test_at_most_three_reasons_and_no_stone_twice() -> None:
    def group(*points: int) -> Fact:
        return Fact("dies", (1,), frozenset(points))

    assert choose([group(1, 2), group(2), group(3), group(4, 5), group(6)]) == [group(1, 2), group(3), group(4, 5)]


# The searches.


def test_searches_of_both_players_moves_see_the_same_facts() -> None:
    """The better move captures, by rollouts: ownership and leads are those of the player, Black or White."""
    found = []
    for diagram, colour in ((CAPTURE, BLACK), (inverted(CAPTURE), WHITE)):
        game, at = drawn(diagram, colour)
        rollouts = replace(searches(400), evaluator=RolloutEvaluator(threads=1, seed=1))
        about = study_of(rollouts, game, colour, at["b"], at["a"])
        assert about is not None and about.points_loss > 2 and 0 < about.winrate_loss <= 1
        assert about.better.owned(frozenset((game.point("B4"),))) > 0.5
        found.append(with_threats(rollouts, about).better.gain_if_ignored)
    assert None not in found


def test_a_line_ends_where_it_has_hardly_been_searched() -> None:
    after = report(WHITE, E5, 0.5, 0.0)
    assert searched_line(after) == (E5, F6)
    thin = after.moves[0]._replace(pv=(E5, F6, G7, D4), pv_visits=(10, 4, 3, 1))
    assert searched_line(replace(after, moves=(thin,))) == (E5, F6)
    assert searched_line(replace(after, moves=())) == ()


def test_a_stopped_search_and_an_illegal_move_explain_nothing() -> None:
    game, at = drawn(CAPTURE)
    assert study_of(searches(is_stopped=lambda: True), game, BLACK, at["b"], at["a"]) is None
    assert study_of(searches(), game, BLACK, game.point("B5"), at["a"]) is None
    after = study_of(searches(), game, BLACK, 0, at["a"])
    assert after is not None and after.played.line[0] == 0
    assert with_threats(searches(), after).better.gain_if_ignored is None


def test_a_move_of_the_record_that_superko_forbids_is_studied_too() -> None:
    game = Game(5, rules="tromp-taylor", komi=0)
    for colour, vertex in zip("bwbwbwb", ("A2", "pass", "B2", "pass", "C1", "A1", "pass"), strict=True):
        game.play(colour, vertex)
    suicide = game.point("B1")  # of two stones, which restores the position before A1
    assert not game.is_legal(suicide, WHITE)
    about = study_of(searches(), game, WHITE, suicide, game.point("C4"))
    assert about is not None and (about.move, about.best) == (suicide, game.point("C4"))
    assert about.played.games[1].stone_at("A1") == EMPTY and game.stone_at("A1") == WHITE
    facts_about(searches(), [about])


def checked(move: MoveReview, before: float = 0.0, after: float = 0.0) -> MoveReview:
    """A move whose searches say who owns the points, the same everywhere, for the player of the move."""
    owned = np.full((9, 9), before, np.float32)
    moves = tuple(each._replace(ownership=owned) for each in move.before.moves)
    after_it = replace(move.after, ownership=np.full((9, 9), -after, np.float32))
    return replace(move, before=replace(move.before, moves=moves), after=after_it, is_checked=True)


def test_the_second_look_shows_both_lines() -> None:
    move = checked(loss(1, WHITE, D4, E5, 9.0, 0.4), 0.5, -0.25)
    game = Game(9)
    game.to_move = WHITE
    about = study_in(game, move)
    assert (about.colour, about.played.line, about.better.line) == (WHITE, (D4, F6), (E5, F6))
    assert about.change(frozenset((G7,))) == 0.75
    assert (about.better.lead, about.played.lead) == (1.0, -9.0), "of the better move itself, and after the one played"
    assert about.winrate_loss == pytest.approx(0.6 - 0.1)
    unsearched = replace(move.before, moves=(move.before.moves[0]._replace(pv_visits=(1, 1)),))
    assert study_in(game, replace(move, before=unsearched)).better.line == (E5,)


def test_a_mistake_costs_what_the_longer_searches_find() -> None:
    move = checked(loss(1, BLACK, D4, E5, 9.0, 0.4))
    found = explain(searches(), Game(9), move)
    assert found is not None and not found.reasons
    longer = replace(move, longer=found.longer)
    assert (longer.points_loss, longer.winrate_loss) == (0.0, 0.0), "all positions are alike for this evaluator"
    longer = replace(move, longer=(Worth(1.0, 0.5), Worth(5.0, 0.75)))
    assert (longer.points_loss, longer.winrate_loss) == (4.0, 0.25)
    assert explain(searches(is_stopped=lambda: True), Game(9), move) is None


def explained(moves: list[MoveReview]) -> list[int]:
    """The numbers of the moves that are explained, one after the other."""
    numbers: list[int] = []
    while (move := next_to_explain(game_of(moves).mistakes, numbers)) is not None:
        numbers.append(move.number)
    return numbers


def test_listed_and_large_mistakes_are_explained() -> None:
    moves = [loss(number, BLACK, 45, 46 + number % 30, 4 + number / 20) for number in range(1, 31)]
    assert explained(moves) == list(range(30, 20, -1))
    large = [loss(number, BLACK, 45, 46 + number % 30, 6 + number / 20) for number in range(1, 31)]
    assert len(explained([*large, loss(31, BLACK, 45, 46, 6.0)])) == 30


def test_reasons_are_in_the_record_and_in_the_json_file() -> None:
    move = loss(1, BLACK, 33, 44, 7.0, 0.3)
    review = game_of([move], reasons={1: [reason((33, 44))]})
    line = f"{move.vertex(33)} {move.vertex(44)}"
    text = "D4 is a neutral point: it gains no territory."
    assert f"{text} ({line})" in annotated(review).main_line[1].comment
    assert f'"text": "{text}"' in to_json([review])
