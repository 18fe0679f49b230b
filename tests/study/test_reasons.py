"""Why a move is a mistake: what is said on drawn positions, and what is not said where it does not hold."""

import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits
from gtp_engine.study.move_review import Unit
from gtp_engine.study.reasons.explain import (
    choose,
    facts_about,
    find_facts,
    study_of,
    with_threats,
    worth_explaining,
)
from gtp_engine.study.reasons.facts import (
    find_captures,
    find_connections,
    find_early_pass,
    find_filled,
    find_groups,
    find_ladder_facts,
    find_missed_atari,
    find_regions_changed,
    find_sente,
)
from gtp_engine.study.reasons.variation import Fact, Study, Variation, play_line, searched_line
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


# Black's three stones in the corner live with a move at B1.
CORNER = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    O O O . . . .
    X X O . . . .
    . X O . . . .
    . . . . . . ."""
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


def corner(played: float, better: float, colour: int = BLACK, **values: float) -> Study:
    """A study of E4 instead of B1."""
    line = "E4 B1 pass" if colour == BLACK else "E4"
    return compared(CORNER, "A3 B3 B2", line, "B1", (played, better), colour, **values)


def capture(
    played: str, better: str, owned: tuple[float, float] = (-1.0, 1.0), colour: int = BLACK, diagram: str = CAPTURE
) -> Study:
    return compared(diagram, "B4 C4", played, better, owned, colour)


def ladder(played: str, better: str, owned: tuple[float, float], diagram: str = LADDER, colour: int = BLACK) -> Study:
    return compared(diagram, "C5 C4", played, better, owned, colour)


def region(played: str, better: str = "C3", owned: tuple[float, float] = (-0.2, 0.8), lead: float = 6.0) -> Study:
    return compared(EMPTY_BOARD, "A1 B1 C1 A2 B2 C2", played, better, owned, lead=lead)


def cut(played: str, better: str, rest: float = 0.2) -> Study:
    game, _ = drawn(CUT)
    return study(variation(game, played.split()), variation(game, better.split(), rest=rest))


def filled(owned: float, after: float, around: float, rest: float = 0.0) -> Study:
    """A study of D2, with the owner of the point after the better move and after D2, and that of its neighbours."""
    game, _ = drawn(CUT)
    near = {} if rest else {"C2 E2 D1 D3": around}
    better = variation(game, ["D4"], {"D2": owned, "C2 E2 D1 D3": around})
    return study(variation(game, ["D2"], {"D2": after, **near}, rest=rest), better)


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
    "dies": (
        lambda: corner(-0.9, 0.9),
        "Black's 3 stones at B3 live after B1 (95% of their points stay Black's), and die after E4 (5%).",
    ),
    "weaker": (
        lambda: corner(0.0, 0.9),
        "Black's 3 stones at B3 are safer after B1 (95% of their points stay Black's) than after E4 (50%).",
    ),
    "lives": (
        lambda: corner(-0.9, 0.9, WHITE),
        "Black's 3 stones at B3 die after B1 (5% of their points stay Black's), and live after E4 (95%).",
    ),
    "stronger": (
        lambda: corner(0.0, 0.9, WHITE),
        "Black's 3 stones at B3 are weaker after B1 (5% of their points stay Black's) than after E4 (50%).",
    ),
    "cut": (
        lambda: cut("A1 D4", "D4"),
        "D4 keeps Black's 2 stones at B4 and 2 stones at E4 connected; after A1, White cuts them.",
    ),
    "connected": (
        lambda: cut("A1 D3", "D3"),
        "D3 cuts White's 2 stones at B3 from 2 stones at E3; after A1 they connect.",
    ),
    "own": (lambda: filled(0.99, 0.99, 0.99), "D2 fills Black's own territory."),
    "others": (lambda: filled(-0.99, -0.99, -0.99), "D2 is in White's territory, and the stone cannot live."),
    "dame": (lambda: filled(0.0, 1.0, 0.95), "D2 is a neutral point: it gains no territory."),
    "region": (
        lambda: region("D2"),
        "The points lie in the lower left corner: Black has 6 more there after C3 than after D2.",
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


@pytest.mark.parametrize(
    ("by", "loss", "values", "text"),
    [
        ("points", 9.0, {"lead": 5.0}, "Black's 3 stones at B3 live"),
        ("points", 11.0, {"lead": 5.0}, "A longer search doubts this: it finds B1 only 5.0 points better than E4."),
        (
            "points",
            11.0,
            {"lead": -1.0},
            "A longer search does not confirm this: it does not find B1 better than E4.",
        ),
        ("winrate", 0.5, {"lead": 0.1, "winrate": 0.85}, "Black's 3 stones at B3 live"),
        (
            "winrate",
            0.8,
            {"lead": 0.1, "winrate": 0.85},
            "A longer search doubts this: it finds that E4 costs only 35.0% of the win rate.",
        ),
        (
            "winrate",
            0.8,
            {"lead": 9.0, "winrate": 0.505},
            "A longer search does not confirm this: it does not find B1 better than E4.",
        ),
    ],
)
def test_only_a_doubt_is_said_if_a_longer_search_finds_less_than_half_of_the_loss(
    by: Unit, loss: float, values: dict[str, float], text: str
) -> None:
    about = corner(-0.9, 0.9, **values)
    (fact,) = facts_about(searches(), about, loss, by)
    assert about.reason(fact).text.startswith(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_can_be_said_in_every_language(language: str) -> None:
    """tests/base/test_texts.py checks that all languages fill in the same values."""
    found = [(about, choose(find_facts(about))[0]) for about in (make() for make, _ in SAID.values())]
    found.append((sente(), *find_sente(sente())))
    about = corner(-0.9, 0.9, lead=5.0, winrate=0.6)
    doubts = [(about, 99.0, "points"), (about, 1.0, "winrate"), (replace(about, better=about.played), 1.0, "points")]
    found += [(doubted, *facts_about(searches(), doubted, loss, by)) for doubted, loss, by in doubts]
    reasons = [about.reason(fact) for about, fact in found]
    told = {each.sentence.name for each in reasons}
    parts = {f"reason.{part}" for part in _PARTS}
    # `find_captures` tells of the stones that a group loses only if no other fact does.
    captures = {"reason.taken", "reason.lost"}
    assert told | parts | captures == {name for name in texts().names if name.startswith("reason.")}
    for each in reasons:
        text = each.text_in(language)
        assert not re.search(r"[{}]|None|Phrase", text)
        assert re.search(r"B1|D[245]|A1|G1|C[35]|E4", text), "a sentence names a point"
        assert re.search(r"[.。]$", text)
        assert (text == each.text) == (language == DEFAULT), "nothing is left in English"


# What is not said.


def nothing(find: Callable[[Study], Iterable[Fact]], *studies: Study) -> bool:
    return not [fact for about in studies for fact in find(about)]


def test_groups_that_stay_as_they_are() -> None:
    assert nothing(find_groups, corner(0.5, 0.9), corner(1.0, 0.9))
    (fact,) = find_groups(corner(-0.9, 0.9, WHITE))
    assert fact.line == corner(-0.9, 0.9, WHITE).better.line


def test_chains_near_each_other_are_one_group_and_a_single_stone_is_none() -> None:
    apart, _ = drawn("""
        . . . . . . .
        X . X . . . X
        . . . . . . X
        . . . . . . .""")
    both = study(variation(apart, ["D1"], rest=-0.9), variation(apart, ["E1"], rest=0.9))
    assert sorted(len(fact.points) for fact in find_groups(both)) == [2, 2]
    single = study(variation(apart, ["D1"], {"A3": -0.9}), variation(apart, ["E1"], {"A3": 0.9}))
    assert nothing(find_groups, single)


def test_stones_that_only_one_line_captures() -> None:
    about = capture("F1 D4 E4", "D4")
    (fact,) = find_captures(about)
    assert (fact.name, fact.line) == ("taken", about.better.line[:1])
    assert about.reason(fact).text == "With D4, Black captures White's 2 stones at B4 in this line."
    lost = capture("F1 D4 E4", "D4", diagram=inverted(CAPTURE))
    (fact,) = find_captures(lost)
    assert (fact.name, fact.line) == ("lost", lost.played.line[:2])
    assert lost.reason(fact).text == "After F1, White captures Black's 2 stones at B4 in this line."
    both_take, dead_anyhow = capture("F1 F2 D4", "D4"), capture("F1", "D4", (1.0, 1.0))
    assert nothing(find_captures, both_take, dead_anyhow)


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

    monkeypatch.setattr("gtp_engine.study.reasons.facts.find_ladders", meet)
    with ThreadPoolExecutor(2) as threads:
        found = [*threads.map(lambda each: [fact.name for fact in find_ladder_facts(each)], (about, about))]
    assert found == [["catches"]] * 2
    assert used and not any(np.shares_memory(*pair) for pair in zip(used[::2], used[1::2], strict=True))


def test_chains_that_nobody_cuts_or_that_do_not_matter() -> None:
    assert nothing(find_connections, cut("A1 D4", "D4", rest=0.1), cut("A1 D3", "D4"), cut("A1 D4", "B1"))
    assert [fact.line for fact in find_connections(cut("A1 D3", "D3"))] == [cut("A1 D3", "D3").better.line]


def test_points_that_are_not_settled() -> None:
    assert nothing(find_filled, filled(0.5, 1.0, 0.9), filled(0.0, 1.0, 0.5))
    assert nothing(find_filled, filled(0.0, 1.0, 0.95, rest=-0.95)), "the move decides who owns the neighbours"


def test_a_pass_that_costs_little_and_a_move() -> None:
    assert nothing(find_early_pass, early_pass(lead=2.5), early_pass("A1"))


def test_a_pass_is_told_as_a_word() -> None:
    game, _ = drawn(CORNER)
    about = compared(CORNER, "A3 B3 B2", "pass", "B1", (-0.9, 0.9))
    assert said(about)[0].endswith("and die after a pass (5%).")
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
    facts_about(searches(), about, 1.0)


def test_listed_and_large_mistakes_are_explained() -> None:
    moves = [loss(number, BLACK, 45, 46 + number % 30, 4 + number / 20) for number in range(1, 31)]
    chosen = worth_explaining(game_of(moves).mistakes)
    assert [move.number for move in chosen] == list(range(30, 20, -1))
    large = [loss(number, BLACK, 45, 46 + number % 30, 6 + number / 20) for number in range(1, 31)]
    assert len(worth_explaining(game_of(large).mistakes)) == 30


def test_reasons_are_in_the_record_and_in_the_json_file() -> None:
    move = loss(1, BLACK, 33, 44, 7.0, 0.3)
    review = game_of([move], reasons={1: [reason((33, 44))]})
    line = f"{move.vertex(33)} {move.vertex(44)}"
    text = "D4 is a neutral point: it gains no territory."
    assert f"{text} ({line})" in annotated(review).main_line[1].comment
    assert f'"text": "{text}"' in to_json([review])
