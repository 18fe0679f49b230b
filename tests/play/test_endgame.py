"""The end of the game on drawn boards; X is black, O is white, x and o are dead stones of theirs."""

import numpy as np
from drawn_positions import BETWEEN_BOTH, PRISONERS, SETTLED, game_of

from gtp_engine.game.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex, point_at
from gtp_engine.game.game import Game
from gtp_engine.play.endgame import (
    EndgameStatus,
    assess_endgame,
    capturing_moves,
    chain_statuses,
    costs_nothing,
    in_their_own_turn,
    is_better,
    is_hopeless,
    may_be_over,
    should_pass,
    useful_move,
)
from gtp_engine.search.report import MoveReport, SearchReport


def ownership_of(text: str, game: Game, certainty: float = 0.9) -> np.ndarray:
    """What a search would find: territory by the nearest living stone in the row, dead stones to their captors."""
    owned = np.zeros((game.height, game.width))
    for y, line in enumerate(text.strip().splitlines()):
        cells = line.split()
        for x, cell in enumerate(cells):
            living = [(abs(x - i), other) for i, other in enumerate(cells) if other in "XO"]
            colour = {"X": 1.0, "O": -1.0, "x": -1.0, "o": 1.0}.get(cell, 1.0 if min(living)[1] == "X" else -1.0)
            owned[y, x] = certainty * colour
    return owned if game.to_move == BLACK else -owned


def status_of(text: str, game: Game, certainty: float = 0.9) -> EndgameStatus:
    """The status where nothing depends on who moves first."""
    owned = ownership_of(text, game, certainty)
    return assess_endgame(game, owned, owned)


def after_a_pass(game: Game) -> Game:
    game.play(game.to_move, PASS)
    return game


def point(game: Game, name: str) -> int:
    return parse_vertex(name, game.width, game.height)


def report(game: Game, *moves: tuple[int, float, float], winrate: float = 0.5, lead: float = 0.0) -> SearchReport:
    found = tuple(
        MoveReport(p, 50, win, ahead, ahead, 9.0, 0.0, 0.0, 0.0, 0.1, 50.0, order, (p,), (50,))
        for order, (p, win, ahead) in enumerate(moves)
    )
    priors = np.zeros(game.area + 1, np.float32)
    return SearchReport(
        game.width, game.height, game.to_move, 99, 99, winrate, lead, lead, 9.0, 0.0, found, priors, None, 1
    )


def test_nothing_is_left_on_a_finished_board():
    game = game_of(SETTLED)
    status = status_of(SETTLED, game)
    assert (status.score, status.worst, status.standing) == (28 - 21 - 6.5,) * 3
    assert not status.open and not status.dead
    assert should_pass(game, status)


def test_the_status_is_for_the_player_to_move():
    game = game_of(SETTLED, to_move=WHITE)
    assert status_of(SETTLED, game).score == 21 + 6.5 - 28


def test_dead_stones_are_off_for_the_count():
    game = game_of(PRISONERS)
    status = status_of(PRISONERS, game)
    assert status.dead == {point(game, name) for name in ("B1", "B4", "G3")}
    assert status.own_dead == {point(game, "G3")}
    assert status.prisoners_to_take == {point(game, "B1"), point(game, "B4")}
    assert status.score == 28 - 21 - 6.5
    assert status.standing != status.score


def test_friendly_rules_pass_with_dead_stones_on_the_board():
    game = game_of(PRISONERS)
    assert should_pass(game, status_of(PRISONERS, game))


def test_dead_stones_are_captured_first_where_stones_stand():
    game = game_of(PRISONERS, "tromp-taylor")
    status = status_of(PRISONERS, game)
    assert not should_pass(game, status)
    assert not should_pass(after_a_pass(game_of(PRISONERS, "tromp-taylor", to_move=WHITE)), status)
    assert should_pass(game_of(PRISONERS), status)
    assert not should_pass(game_of(PRISONERS), status, cleanup=True)


def test_a_count_that_wins_as_it_stands_ends_the_game_after_the_opponents_pass():
    game = after_a_pass(game_of(PRISONERS, "tromp-taylor", komi=-30.0, to_move=WHITE))
    status = status_of(PRISONERS, game)
    assert status.standing > 0 and status.prisoners_to_take
    assert should_pass(game, status)


def test_a_point_between_both_is_open():
    game = game_of(BETWEEN_BOTH)
    status = status_of(BETWEEN_BOTH, game)
    assert point(game, "E7") in status.open
    assert status.worst < status.score
    assert not should_pass(game, status)


def test_a_pass_is_answered_where_the_count_wins_whatever_comes():
    winning = after_a_pass(game_of(BETWEEN_BOTH, komi=-9.5, to_move=WHITE))
    assert should_pass(winning, status_of(BETWEEN_BOTH, winning))
    losing = after_a_pass(game_of(BETWEEN_BOTH, komi=20.5, to_move=WHITE))
    assert not should_pass(losing, status_of(BETWEEN_BOTH, losing))


def test_unsettled_stones_keep_the_game_open():
    game = after_a_pass(game_of(SETTLED, to_move=WHITE))
    status = status_of(SETTLED, game, certainty=0.2)
    assert status.open and status.worst < status.score
    assert not should_pass(game, status)


def test_stones_that_live_when_their_owner_moves_are_not_dead():
    game = game_of(PRISONERS)
    dead, living = np.full((7, 7), -0.9), np.full((7, 7), 0.9)
    for black_first, white_first in ((living, dead), (dead, living)):
        owned = in_their_own_turn(game, black_first, white_first)
        assert (owned[game.stones() == BLACK] == 0.9).all() and (owned[game.stones() == WHITE] == -0.9).all()
        assert (owned[game.stones() == EMPTY] == 0).all()


def test_what_depends_on_the_first_move_is_open():
    game = game_of(SETTLED)
    owned = ownership_of(SETTLED, game)
    status = assess_endgame(game, owned, np.where(owned < 0, owned, -0.9))
    assert status.score == 28 - 21 - 6.5 and status.worst == -49 - 6.5
    assert not should_pass(game, status)


def test_a_useful_move_is_on_open_ground_and_as_good_as_the_best():
    game = game_of(BETWEEN_BOTH)
    status = status_of(BETWEEN_BOTH, game)
    inside, between = point(game, "A1"), point(game, "E7")
    found = report(game, (inside, 0.5, 1.0), (between, 0.49, 0.8))
    assert useful_move(found, status).point == between
    found = report(game, (inside, 0.5, 4.0), (between, 0.4, 0.8))
    assert useful_move(found, status) is None


def test_what_a_pass_costs():
    game = game_of(SETTLED)
    before = report(game, (point(game, "A1"), 0.5, 0.5), winrate=0.5, lead=0.5)
    assert costs_nothing(before, report(game, winrate=0.5, lead=0.0))
    assert not costs_nothing(before, report(game, winrate=0.9, lead=6.0))
    assert is_better(before.moves[0], -1.0, is_reliable=False) and not is_better(
        before.moves[0], 0.5, is_reliable=False
    )
    assert is_better(before.moves[0], before.moves[0].lead - 0.7, is_reliable=True)


def test_captures_begin_with_safe_liberties():
    game = game_of(PRISONERS, "tromp-taylor")
    status = status_of(PRISONERS, game)
    moves = capturing_moves(game, status)
    assert moves and all(game.is_legal(move) for move in moves)
    taken = 0
    for _ in range(20):
        status = status_of(PRISONERS, game)
        if not status.prisoners_to_take:
            break
        game.play(BLACK, min(capturing_moves(game, status)))
        game.play(WHITE, PASS)
        taken = game.captures(BLACK)
    assert taken == 2


def test_the_end_is_looked_for_late_or_after_a_pass():
    game = Game(9)
    assert not may_be_over(game)
    assert may_be_over(after_a_pass(game))
    assert may_be_over(game_of(SETTLED))


def test_hopeless_means_far_behind_late_and_without_chances():
    game = Game(9)
    lost = report(game, winrate=0.01, lead=-20.0)
    assert not is_hopeless(game, lost, 0.05)
    for number in range(21):
        game.play(game.to_move, point_at(number % 9, 2 * (number // 9), 9))
    assert is_hopeless(game, lost, 0.05)
    assert not is_hopeless(game, lost, 0.001)
    assert not is_hopeless(game, report(game, winrate=0.01, lead=-1.0), 0.05)


def test_stones_that_are_set_up_count_as_moves():
    game = Game(9)
    points = [point_at(number % 9, 2 * (number // 9), 9) for number in range(21)]
    game.set_up(points[::2], points[1::2], BLACK)
    assert is_hopeless(game, report(game, winrate=0.01, lead=-20.0), 0.05)


def test_handicap_is_no_reason_to_resign_early():
    game = Game(9)
    game.place_handicap([point_at(2, 2, 9), point_at(6, 6, 9), point_at(2, 6, 9), point_at(6, 2, 9)])
    for number in range(21):
        game.play(game.to_move, point_at(number % 9, 4 * (number // 9), 9))
    assert not is_hopeless(game, report(game, winrate=0.01, lead=-20.0), 0.05)


def test_statuses():
    game = game_of(PRISONERS)
    dead = status_of(PRISONERS, game).dead
    statuses = chain_statuses(game, set(dead))
    assert sorted(len(chain) for chain in statuses["dead"]) == [1, 1, 1]
    assert not statuses["seki"]
    assert sum(len(chain) for chain in statuses["alive"]) == int(np.count_nonzero(game.stones() != EMPTY)) - 3
