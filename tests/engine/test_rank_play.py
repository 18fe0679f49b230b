"""Whole moves and games at a rank, with the bundled network for 9x9: when it passes, resigns, and repeats itself."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn_positions import PRISONERS, game_of, played

from gtp_engine.engine.decision import PlayStyle, choose_move, is_hopeless
from gtp_engine.engine.engine import Decision, Engine
from gtp_engine.engine.rank_play import _distances
from gtp_engine.engine.ranks import Strength
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, all_points, index_of_point, opponent, xy
from gtp_engine.go.game import Game, Move, initial_game
from gtp_engine.go.regions import cells_of, find_regions, neighbours
from gtp_engine.go.scoring import living_stones
from gtp_engine.go.sgf import read_sgf
from gtp_engine.search.request import Limits, RootMoves, SearchRequest

NETWORK = "b4c32-9x9"
OPEN_BOARD = Path(__file__).resolve().parents[1] / "data" / "sgf" / "open_board.sgf"
RANKS = ("25k", "15k", "8k", "3k")


def engine_at(rank: str | None, seed: int = 1, network: str = NETWORK) -> Engine:
    return Engine(EngineSettings(network=network, threads=1, seed=seed, rank=rank), width=9)


def play_game(engine: Engine, most: int = 150) -> list[Decision]:
    decisions = []
    while not engine.game.is_over and len(decisions) < most:
        decisions.append(engine.best_move())
        if decisions[-1].resign:
            break
    return decisions


@pytest.fixture(scope="module")
def finished() -> Iterator[Engine]:
    """An engine with a game that only lacks its passes: Black's wall and White's, each alive on its side."""
    with engine_at("15k") as engine:
        rows = [
            ".X.XXOO.O",
            "XX.XO.OO.",
            "X.XXO..OO",
            "XXXXOOOO.",
            ".XXOO.OOO",
            "XXXXOOO.O",
            "X.XXXOOOO",
            "XX.XOOO.O",
            ".XXXO.OO.",
        ]
        stones = {"X": [], "O": []}
        for y, row in enumerate(rows):
            for x, mark in enumerate(row):
                if mark != ".":
                    stones[mark].append(f"{'ABCDEFGHJ'[x]}{9 - y}")
        engine.set_up(stones["X"], stones["O"], BLACK)
        yield engine


@pytest.mark.parametrize("rank", RANKS)
def test_a_finished_game_ends_with_two_passes(finished: Engine, rank: str) -> None:
    for colour in (BLACK, WHITE):
        finished.set_to_move(colour)
        for _ in range(2):
            assert finished.best_move(rank=rank).point == PASS
        assert finished.game.is_over
        finished.undo()
        finished.undo()


@pytest.mark.parametrize("rank", RANKS)
def test_a_game_comes_to_an_end(rank: str) -> None:
    with engine_at(rank) as engine:
        decisions = play_game(engine)
        assert engine.game.is_over or decisions[-1].resign
        assert 20 < len(decisions) < 130


@pytest.mark.parametrize("stones", [4, 9])
def test_no_rank_passes_before_the_board_has_filled_up(stones: int) -> None:
    """The network takes every point for Black's, and says so with policy, ownership and search."""
    with engine_at(None, network="b6c64-19x19") as engine:
        engine.set_parameter("visits", 30)
        for rank in ("25k", "8k", "5k", "1d", "max"):
            engine.load(initial_game(9, 9, handicap=stones, komi=0.5, rules="chinese"))
            for _ in range(4):
                assert engine.best_move(rank=rank).point != PASS
                engine.play(BLACK, PASS)


# A position of a game against GNU Go, in which both players passed: White can kill ten stones on the lower side.
OPEN_SIDE = """
    G7 D5 B4 G5 B5 C6 H4 E3 D3 C3 C2 E8 H6 D2 B6 H5 E7 D4 C7 D8 G8 D7 B2 J5 E5 J7 A9 B3 C8 B9 F6 F5 F4 G3 D6
    E6 A4 F7 B8 A1 E9 A3 C4 D6 A8 C5 A2 D9 G2 C9 F3 D3 A7
"""


@pytest.mark.parametrize("rank", ["15k", "3k", "1d"])
def test_no_rank_passes_while_points_are_open(rank: str) -> None:
    with Engine(EngineSettings(threads=1, seed=1), width=9) as engine:
        for after_a_pass in (False, True):
            engine.load(played(OPEN_SIDE, rules="japanese"))
            colour = engine.game.to_move
            if after_a_pass:
                engine.play(opponent(colour), PASS)
            assert engine.best_move(colour, rank=rank).point != PASS


@pytest.mark.parametrize("rank", ["25k", "20k", "15k", "10k"])
def test_no_weak_rank_passes_on_an_open_board(rank: str) -> None:
    """Neither first nor after the pass of a beginner who does not know that the game goes on."""
    for seed in range(5):
        with engine_at(rank, seed, "b6c64-19x19") as engine:
            for passes in (0, 1):
                engine.load(read_sgf(OPEN_BOARD).to_game())
                if passes:
                    engine.play(WHITE, "D2")
                    engine.play(BLACK, PASS)
                assert engine.best_move(WHITE).point != PASS


# A game that Black has lost: White's walls are closed, and everything within is White's.
LOST = """
    D6 E4 D4 D5 E5 C5 C4 C6 C7 E6 D7 B4 B3 C3 D3 E3 C2 D2 F3 F4 C3 G5 F8 G7 F7 F2 G3 H3 B6 F6 D1 E2 C1 G8 E7 F5 F9 B5 G1
    B7 A8 B8 A9 A7
"""


@pytest.mark.parametrize("rank", ["25k", "20k", "15k", "10k"])
def test_after_a_pass_a_rank_captures_what_one_move_takes_and_passes_too(rank: str) -> None:
    """The rest is not chased: the count shows which stones are dead."""
    with engine_at(rank, network="b6c64-19x19") as engine:
        engine.load(played(LOST))
        moves = 0
        while not engine.game.is_over:
            engine.play(BLACK, PASS)
            moves += engine.best_move(WHITE).point != PASS
        assert 0 < moves <= 8
        assert engine.game.score(engine.dead_stones().result()).winner == WHITE


@pytest.mark.parametrize("rank", ["25k", "12k"])
def test_dead_stones_are_captured_before_the_first_pass_where_that_costs_nothing(rank: str) -> None:
    with Engine(EngineSettings(NETWORK, threads=1, seed=1, rank=rank), width=7) as engine:
        engine.load(game_of(PRISONERS, "chinese"))
        while engine.best_move(BLACK).point != PASS:
            assert len(engine.game.moves) < 20
        assert all(engine.game.stone_at(name) != WHITE for name in ("B4", "B1"))


def random_move(game: Game, random: np.random.Generator) -> int:
    """Returns a legal move that fills no eye of one point; a pass if there is none."""

    def is_eye(point: int) -> bool:
        near = neighbours(cells_of([point], game.width)[0], game.stones().shape)
        return all(game.stones()[cell] == game.to_move for cell in near)

    points = [point for point in all_points(game.width, game.height) if game.is_legal(point) and not is_eye(point)]
    return int(random.choice(points)) if points else PASS


@pytest.mark.parametrize("rank", ["25k", "10k"])
def test_against_random_moves_a_weak_rank_passes_first_only_when_nothing_is_open(rank: str) -> None:
    for seed in range(2):
        random = np.random.default_rng(seed)
        with engine_at(rank, seed, "b6c64-19x19") as engine:
            while not engine.game.is_over:
                game = engine.game.copy()
                assert len(game.moves) < 3 * game.area
                if game.to_move == BLACK:
                    engine.play(BLACK, random_move(game, random))
                elif engine.best_move().point == PASS and not game.passes:
                    empty = [each for each in find_regions(game.stones()) if each.colour == EMPTY]
                    assert all(len(each.borders) == 1 or len(each.cells) == 1 for each in empty), game
                    assert sum(len(each.cells) for each in empty) <= game.area / 3
            assert engine.game.score(engine.dead_stones().result()).winner == WHITE


@pytest.mark.parametrize("rank", ["25k", "10k"])
def test_by_japanese_rules_a_weak_rank_passes_first_only_when_living_stones_enclose_all_points(rank: str) -> None:
    """Dead stones stay on the board: to capture them would cost points."""
    for seed in range(2):
        random = np.random.default_rng(seed)
        with engine_at(rank, seed, "b6c64-19x19") as engine:
            engine.set_rules("japanese")
            while not engine.game.is_over:
                assert len(engine.game.moves) < 3 * engine.game.area
                if engine.game.to_move == BLACK:
                    engine.play(BLACK, random_move(engine.game, random))
                elif engine.best_move().point == PASS and not engine.game.is_over:
                    engine.play(BLACK, PASS)
            living = living_stones(engine.game.stones(), engine.dead_stones().result())
            assert all(len(each.borders) == 1 for each in find_regions(living) if each.colour == EMPTY), engine.game


@pytest.mark.parametrize("rank", ["20k", "3k"])
def test_the_same_seed_repeats_a_game(rank: str) -> None:
    def moves(seed: int) -> list[tuple[int, int]]:
        with engine_at(rank, seed) as engine:
            play_game(engine, 30)
            return list(engine.game.moves)

    assert moves(5) == moves(5) != moves(6)


@pytest.fixture
def blind() -> Iterator[SearchWorker]:
    """A player to whom all moves look alike."""
    worker = SearchWorker(EngineSettings("uniform", threads=1, seed=1))
    yield worker
    worker.close()


def distances_from_middle(worker: SearchWorker, moves: str, count: int, *, deterministic: bool = False) -> list[int]:
    """Returns how many rows plus columns lie between E5 and each of the moves that are chosen after these."""
    request = SearchRequest(played(moves))
    style = PlayStyle(Strength(0.0), deterministic=deterministic)
    chosen = (xy(choose_move(worker, request, style)[0], 9) for _ in range(count))
    return [abs(x - 4) + abs(y - 4) for x, y in chosen]


@pytest.mark.parametrize(
    ("moves", "expected"),
    # Of 48 moves inside the board 12 lie within two points of E5: in a draw in proportion to 1 / distance 46 %.
    [("E5", 0.46), ("E5 pass", 0.25), ("", 0.25)],
)
def test_a_weak_player_answers_near_the_last_move(blind: SearchWorker, moves: str, expected: float) -> None:
    distances = distances_from_middle(blind, moves, 300)
    near = sum(distance <= 2 for distance in distances) / len(distances)
    assert near == pytest.approx(expected, abs=0.08)


def test_distances_are_rows_plus_columns_on_any_board() -> None:
    game = Game(13, 9)
    points = ("A1", "C2", "C3", "N9", "A9", "N1")
    moves = np.array([index_of_point(point, 13, 9) for point in points])
    assert _distances(moves, game).tolist() == [1] * 6
    game.play(BLACK, "C2")
    assert _distances(moves, game).tolist() == [3, 1, 1, 17, 9, 11]
    game.play(WHITE, "pass")
    assert _distances(moves, game).tolist() == [1] * 6


def test_without_randomness_the_last_move_does_not_matter(blind: SearchWorker) -> None:
    answers = [distances_from_middle(blind, moves, 1, deterministic=True) for moves in ("E5", "E5 pass")]
    assert answers[0] == answers[1] == [6]


def test_what_was_searched_before_makes_no_rank_stronger() -> None:
    with engine_at("5k") as engine:
        engine.analyze(engine.request(limits=Limits(visits=500))).result()
        assert engine.best_move().report.visits < 100
        engine.analyze(engine.request(limits=Limits(visits=500))).result()
        assert engine.best_move(rank="20k").report.visits == 1


def test_a_lost_game_is_resigned_later_by_weaker_players() -> None:
    with engine_at("15k") as engine:
        play_game(engine, 30)
        report = engine.genmove(play=False).result().report
    assert report is not None
    behind = {lead: replace(report, winrate=0.01, lead=-lead, visits=1) for lead in (3, 10, 20)}

    def resigns_at(strength: float) -> list[int]:
        return [lead for lead in behind if is_hopeless(engine.game, behind[lead], 0.05, Strength(strength))]

    assert [resigns_at(strength) for strength in (0.0, 0.5, 1.0)] == [[20], [10, 20], [3, 10, 20]]
    # At full strength one visit says little.
    assert [lead for lead in behind if is_hopeless(engine.game, behind[lead], 0.05)] == [10, 20]


def fill_with_white(engine: Engine) -> None:
    """Lets White play all over the board while Black passes."""
    for row in range(2, 9):
        for column in "CDEFGH"[row % 2 :: 2]:
            engine.play(WHITE, f"{column}{row}")
            engine.play(BLACK, PASS)


def test_moves_by_hand_end_a_row_of_hopeless_ones() -> None:
    with engine_at("10k") as engine:
        fill_with_white(engine)
        for _ in range(2):
            assert engine.best_move(BLACK).hopeless
            engine.play(WHITE, PASS)
        engine.play(BLACK, "J9")
        engine.play(WHITE, PASS)
        assert not engine.best_move(BLACK).resign


def test_games_that_are_replayed_before_each_move_are_resigned_too() -> None:
    with engine_at("10k") as engine:
        fill_with_white(engine)
        first = list(engine.game.moves)
        games, resigned = [first, [*first[2:], *first[:2]]], []
        for _ in range(3):
            for moves in games:  # in turn, as on a server
                engine.set_board_size(9, 9)
                engine.clear_board()
                engine.set_komi(7.5)
                for move in moves:
                    engine.play(*move)
                decision = engine.best_move(BLACK)
                resigned.append(decision.resign)
                moves += [Move(BLACK, decision.point), Move(WHITE, PASS)]
    assert resigned == [False, False, False, False, True, True]


@pytest.mark.parametrize("undo", [Engine.undo, lambda engine: engine.load(engine.game)])
def test_a_player_who_takes_back_a_move_can_play_on(undo: Callable[[Engine], None]) -> None:
    with engine_at("10k") as engine:
        fill_with_white(engine)
        for _ in range(2):
            assert engine.best_move(BLACK).hopeless
            engine.play(WHITE, PASS)
        undo(engine)
        assert not engine.best_move(BLACK).resign


def test_a_move_that_is_not_played_is_the_likeliest_and_changes_nothing() -> None:
    with engine_at("20k") as engine, engine_at("20k") as other:
        vertices = {engine.genmove(play=False).result().vertex for _ in range(5)}
        assert len(vertices) == 1
        assert engine.game.moves == []
        assert [engine.best_move().vertex for _ in range(3)] == [other.best_move().vertex for _ in range(3)]


def test_an_absurd_move_is_played_if_nothing_else_is_allowed(finished: Engine) -> None:
    worker = SearchWorker(EngineSettings(NETWORK, threads=1, seed=1))
    game = finished.game.copy()
    game.to_move, eye = BLACK, "A9"
    request = SearchRequest(game, Limits(), RootMoves(allow=((game.to_move, eye, 1),)).on_board(9, 9))
    point, _ = choose_move(worker, request, PlayStyle(Strength(0.5)))
    worker.close()
    assert game.vertex(point) == eye


def test_a_few_random_games_do_not_make_a_rank_resign() -> None:
    with Engine(EngineSettings(network="none", threads=1, seed=1, rank="12k"), width=5) as engine:
        for _ in range(3):
            assert not any(decision.resign for decision in play_game(engine))
            engine.clear_board()


def test_a_rank_that_is_not_measured_is_announced_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "gtp_engine"), engine_at("20k", network="uniform") as engine:
        for _ in range(3):
            engine.best_move()
    (line,) = [record.message for record in caplog.records if "stronger or weaker" in record.message]
    assert line == (
        "the engine may be stronger or weaker than its rank: how strongly it plays here has not been measured"
    )
