"""Why a move is a mistake: what is not said on drawn positions where it does not hold."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from drawn_positions import drawn
from studies import (
    CAPTURE,
    CORNER,
    CUT,
    EMPTY_BOARD,
    FAILING,
    KO,
    LADDER,
    OPEN,
    RACE,
    WORKING,
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
    study,
    variation,
)

from gtp_engine.go.board import Board
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.ladders import find_ladders
from gtp_engine.go.regions import chain_at, chains_of
from gtp_engine.study.reasons import fates
from gtp_engine.study.reasons.explain import choose
from gtp_engine.study.reasons.facts import (
    find_connections,
    find_early_pass,
    find_filled,
    find_missed_atari,
    find_regions_changed,
)
from gtp_engine.study.reasons.fates import capture_line, find_fates
from gtp_engine.study.reasons.ko_facts import find_ko
from gtp_engine.study.reasons.ladder_facts import find_ladder_facts
from gtp_engine.study.reasons.variation import Fact, Study


def nothing(find: Callable[[Study], Iterable[Fact]], *studies: Study) -> bool:
    return not [fact for about in studies for fact in find(about)]


def test_moves_that_have_nothing_to_do_with_a_ko() -> None:
    beside, cannot_connect = ko("G1 G2", "C1"), ko("G1 B3", "C1")
    not_answered, elsewhere = ko("G1 pass C3", "G5", is_taken=True), ko("G1 G2 G3", "G5", is_taken=True)
    assert nothing(find_ko, beside, cannot_connect, not_answered, elsewhere)
    assert nothing(find_ko, ko("G5", "G1 pass C3", is_taken=True), ko("G5", "G1 G2 G3", is_taken=True))


def test_groups_that_stay_as_they_are() -> None:
    assert nothing(find_fates, corner(0.5, 0.9, answer="F5", diagram=OPEN), corner(1.0, 0.9))
    assert nothing(
        find_fates, corner(-0.7, 0.0, answer="F5", diagram=OPEN), corner(-0.9, -0.5, answer="F5", diagram=OPEN)
    )
    (fact,) = find_fates(corner(-0.9, 0.9, WHITE, "F5", OPEN))
    assert fact.line == corner(-0.9, 0.9, WHITE).better.line


@pytest.mark.parametrize(("corner_stone", "is_said"), [("X", False), (".", True)])
def test_large_groups_are_said_to_be_in_danger_only_by_a_clear_change(corner_stone: str, is_said: bool) -> None:
    board, _ = drawn(f"""
        . . . . . . .
        {corner_stone} X X . . . .
        X X X . . . .
        X X X . . . .
        . . . . . . .""")
    in_danger, clear = (study(variation(board, ["F1"]), variation(board, ["E1"], rest=rest)) for rest in (0.7, 0.9))
    assert [fact.name for fact in find_fates(in_danger)] == ["weaker"] * is_said
    assert [fact.name for fact in find_fates(clear)] == ["weaker"]
    dead = study(variation(board, ["F1"], rest=-0.9), variation(board, ["E1"], rest=0.9))
    assert [fact.name for fact in find_fates(dead)] == ["dies"]


def test_parts_of_large_groups_are_not_said_to_be_in_danger_by_a_small_change() -> None:
    board, _ = drawn("""
        . . . . . . .
        X X X . X X .
        X X X . X X .
        . . . . . . .
        . . . . . . .""")
    in_danger, dead = (
        study(variation(board, ["F1"], rest=rest), variation(board, ["G1"], rest=0.7)) for rest in (0.0, -0.7)
    )
    assert nothing(find_fates, in_danger) and not nothing(find_fates, dead)


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


def test_chains_of_a_group_are_in_danger_only_if_each_is() -> None:
    board, _ = drawn("""
        . . . . . . .
        . X . X X . .
        . . . . . . .""")
    safe = variation(board, ["G1"], rest=1.0)
    one, both = (study(variation(board, ["F1"], {"B2": -0.9, "D2 E2": owned}), safe) for owned in (0.55, 0.0))
    assert nothing(find_fates, one)
    assert [(fact.name, len(fact.points)) for fact in find_fates(both)] == [("weaker", 3), ("weaker", 2)]


def test_stones_that_are_captured_at_once_are_not_in_danger() -> None:
    beside = CAPTURE.replace(". X X . . .\n    . . . . . .", ". X X O . .\n    . . . . . .")
    at_once, later = (compared(beside, "B4 C4 D3", "F1", better, (-0.9, 0.0)) for better in ("D4", "E1"))
    assert nothing(find_fates, at_once)
    assert [fact.name for fact in find_fates(later)] == ["stronger"]


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


def test_stones_that_the_better_move_captures_at_once_are_in_no_race() -> None:
    both_in_atari = """
        . . . . . .
        . X O X . .
        . O X . . .
        . O O . . .
        . . . . . ."""
    about = compared(both_in_atari, "C4 C3", "F1 D3", "D3", (-0.9, 0.9), WHITE)
    assert [fact.name for fact in find_fates(about)] == ["lost", "taken"]


def test_a_race_that_the_better_move_does_not_touch() -> None:
    far = compared(RACE, "A2 B2 C2 A3 B3 C3", "G5 B1", "E5 B1 B4", (-0.9, 0.9))
    names = [fact.name for fact in find_fates(far)]
    assert names and "race" not in names


def test_a_point_is_vital_only_if_the_line_plays_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [fact.name for fact in find_fates(corner(-0.9, 0.9))] == ["eyes"]
    game, _ = drawn(CORNER)
    monkeypatch.setattr(fates, "capture_line", lambda *_: (game.point("F5"), game.point("G5")))
    assert [fact.name for fact in find_fates(corner(-0.9, 0.9))] == ["dies"]


def test_an_atari_that_is_not_missed() -> None:
    taken_later, given_up = capture("F1 E1 E6 D4", "D4", colour=WHITE), capture("F1 D4", "E1", colour=WHITE)
    assert nothing(find_missed_atari, taken_later, given_up)
    game, _ = drawn(KO)
    taken = study(variation(game, ["G1", "B3"], {"C3": -1.0}), variation(game, ["B3"], {"C3": 1.0}))
    assert nothing(find_missed_atari, taken), "it is a ko"
    assert [fact.name for fact in find_ko(taken)] == ["koEnded"]


def test_ladders_that_do_not_count() -> None:
    not_attacked, search_disagrees = ladder("G1", "E2", (-0.9, 0.9)), ladder("G1", "D5", (-0.9, -0.9))
    white = inverted(LADDER)
    not_caught, lost_anyhow = ladder("G1 G2", "D5", (-0.9, 0.9), white), ladder("G1 D5", "D5", (-0.9, -0.9), white)
    works = ladder(*FAILING)
    running = LADDER.replace("a", "X")
    lives, stays = ladder("C4", "G1", (0.9, 0.0), running, WHITE), ladder("G1", "C4", (-0.9, 0.0), running, WHITE)
    assert nothing(find_ladder_facts, not_attacked, search_disagrees, not_caught, lost_anyhow, works, lives, stays)


def test_stones_that_capture_their_way_out_run_from_no_ladder() -> None:
    open_way = LADDER.replace("c", "O")
    surrounded = open_way.replace(". O . . . . .\n    . . .", ". O X O . . .\n    . . O")
    line = ("D5 C4 B4", "G7", (-0.9, 0.0))
    assert [len(ladder(*line, each).played.removals()[1]) for each in (open_way, surrounded)] == [0, 1]
    assert not nothing(find_ladder_facts, ladder(*line, open_way))
    assert nothing(find_ladder_facts, ladder(*line, surrounded))


def test_stones_that_connect_run_from_no_ladder() -> None:
    line = ("D5 C4 B4", "G7", (-0.9, 0.0))
    assert not nothing(find_ladder_facts, ladder(*line, LADDER.replace("c", "O")))
    fenced = LADDER.replace(". . b X", "O . b X").replace(". c . . . . .\n    . .", ". X O X . . .\n    . O")
    connected = ladder(*line, fenced)
    assert len(chain_at(connected.played.games[2].board[0], connected.played.line[1]).liberties) == 2
    assert nothing(find_ladder_facts, connected)


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
    assert nothing(find_connections, cut("A1 D4", "A2 B1 D4")), "the better move is far from the cut"
    assert [fact.line for fact in find_connections(cut("A1 D3", "D3"))] == [cut("A1 D3", "D3").better.line]


def test_chains_that_the_cutting_move_captures() -> None:
    in_atari = CUT.replace(". . . . . .", ". . . . O O", 1)
    assert nothing(find_connections, cut("A1 D4", "D4", diagram=in_atari))


def test_points_that_are_not_settled() -> None:
    assert nothing(find_filled, filled(0.5, 1.0, 0.9), filled(0.0, 1.0, 0.5))
    assert nothing(find_filled, filled(0.0, 1.0, 0.95, rest=-0.95)), "the move decides who owns the neighbours"


def test_a_pass_that_costs_little_and_a_move() -> None:
    assert nothing(find_early_pass, early_pass(lead=2.5), early_pass("A1"))


def test_regions_that_do_not_count() -> None:
    far_from_both, too_few_points = region("N13", "N12"), region("D2", owned=(0.6, 0.8))
    assert nothing(find_regions_changed, far_from_both, too_few_points)
    assert not nothing(find_regions_changed, region("N13", "N12 N11 C3")), "a later move of the line is near"


def test_groups_far_from_both_moves() -> None:
    def group(played: str, better: str) -> Study:
        stones = "\n".join([". . X X . . . . . . . . ."] + [". " * 13] * 12)
        return compared(stones, "C13 D13", played, better, (-0.9, 0.9))

    assert [fact.name for fact in find_fates(group("N1", "D10"))] == ["dies"]
    assert nothing(find_fates, group("N1", "D8"), group("pass", "D8"))


def test_the_far_chains_of_a_group_near_a_move() -> None:
    stones = "\n".join(["X X . X X . X X . . . . ."] + [". " * 13] * 12)
    owned = {"A13 B13": -0.9, "D13 E13": -0.9, "G13 H13": 0.45}
    game, _ = drawn(stones)
    about = study(variation(game, ["E8"], owned), variation(game, ["E10"], dict.fromkeys(owned, 0.9)))
    assert ["Black's 2 stones at D13" in about.reason(fact).text for fact in find_fates(about)] == [True]


def test_a_region_of_which_no_part_of_the_board_has_half() -> None:
    def across(*rows: int) -> Study:
        points = " ".join(f"{column}{row}" for row in rows for column in "GH")
        return compared(EMPTY_BOARD, points, "G5", "G3", (0.0, 0.9), lead=9.0)

    assert [fact.name for fact in find_regions_changed(across(1, 2, 3, 4, 5, 6, 7))] == ["bigger", "point"]
    assert [fact.name for fact in find_regions_changed(across(*range(1, 14)))] == []


def test_a_bigger_point_with_most_of_the_gain_far_from_it() -> None:
    near, far = "A1 B1 C1 A2 B2 C2", " ".join(f"A{row} B{row} C{row} D{row}" for row in range(3, 14))
    for points, names in ((near, ["bigger", "point"]), (f"{near} {far}", ["bigger"])):
        about = compared(EMPTY_BOARD, points, "G6", "C2", (0.0, 0.9), lead=50.0)
        assert [fact.name for fact in find_regions_changed(about)] == names


def test_a_region_of_which_more_than_half_is_given_back_elsewhere() -> None:
    half, more = (region("D2", owned=(0.0, 1.0), lead=lead) for lead in (3.0, 2.9))
    assert [fact.name for fact in find_regions_changed(half)] == ["bigger"]
    assert nothing(find_regions_changed, more)


def test_at_most_three_reasons_and_no_stone_twice() -> None:
    def group(*points: int) -> Fact:
        return Fact("dies", (1,), frozenset(points))

    assert choose([group(1, 2), group(2), group(3), group(4, 5), group(6)]) == [group(1, 2), group(3), group(4, 5)]
    assert choose([group(1, 2, 3), group(3, 4, 5)]) == [group(1, 2, 3)]
