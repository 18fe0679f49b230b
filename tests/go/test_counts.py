"""Numbers of positions and of games on tiny boards.

J. Tromp and G. Farnebaeck, "Combinatorics of Go" (2016): sections 3 (legal positions) and 6 (games). A game there is a
row of moves, of any player at any time, in which no position comes twice.
"""

from itertools import product

import numpy as np
import pytest

from gtp_engine.go.board import (
    POSITIONAL_SUPERKO,
    is_legal,
    is_legal_but_superko,
    new_board,
    play,
)
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, all_points
from gtp_engine.go.game import Game

LEGAL_POSITIONS = {(2, 2): 57, (2, 3): 489, (3, 2): 489, (4, 2): 4125}


def successors(board: np.ndarray) -> list[np.ndarray]:
    """The positions after each legal move of either player, as if nothing had been before."""
    found = []
    for colour in (BLACK, WHITE):
        board["to_move"] = colour
        board["ko_point"] = PASS
        for point in all_points(int(board["width"][0]), int(board["height"][0])):
            if is_legal_but_superko(board[0], point):
                after = board.copy()
                play(after[0], point)
                found.append(after)
    return found


def position_graph(width: int, height: int, suicide: bool) -> list[set[int]]:
    """Where the moves of each position lead that the compiled board reaches from the empty one, which is number 0."""
    start = new_board(width, height)
    start["suicide"] = suicide
    numbers = {int(start["hash"][0]): 0}
    waiting = [start]
    moves: list[set[int]] = [set()]
    while waiting:
        board = waiting.pop()
        number = numbers[int(board["hash"][0])]
        for after in successors(board):
            key = int(after["hash"][0])
            if key not in numbers:
                numbers[key] = len(moves)
                moves.append(set())
                waiting.append(after)
            moves[number].add(numbers[key])
    return moves


@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (4, 2)])
def test_moves_reach_every_legal_position(width: int, height: int) -> None:
    assert len(position_graph(width, height, suicide=False)) == LEGAL_POSITIONS[width, height]


@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (3, 2)])
def test_set_up_accepts_just_the_legal_positions(width: int, height: int) -> None:
    points = all_points(width, height)
    accepted = 0
    for colours in product((EMPTY, BLACK, WHITE), repeat=len(points)):
        game = Game(width, height)
        by_colour = {wanted: [p for p, c in zip(points, colours, strict=True) if c == wanted] for wanted in (1, 2)}
        try:
            game.set_up(by_colour[BLACK], by_colour[WHITE])
        except ValueError:
            continue
        assert game.stones().ravel().tolist() == list(colours)
        accepted += 1
    assert accepted == LEGAL_POSITIONS[width, height]


def test_number_of_games_up_to_five_moves() -> None:
    """Superko on the board and paths in the graph of positions are the same thing."""
    moves = position_graph(2, 2, suicide=True)

    def paths(node: int, seen: frozenset[int], length: int) -> int:
        if length == 0:
            return 1
        return 1 + sum(paths(after, seen | {after}, length - 1) for after in moves[node] - seen)

    def games(board: np.ndarray, history: list[int], length: int) -> int:
        if length == 0:
            return 1
        count = 1
        for colour, point in product((BLACK, WHITE), all_points(2, 2)):
            board["to_move"] = colour
            board["ko_point"] = PASS
            if is_legal(board[0], point, np.array(history, np.uint64), len(history)):
                after = board.copy()
                play(after[0], point)
                count += games(after, [*history, int(after["hash"][0])], length - 1)
        return count

    start = new_board(2, 2)
    start["suicide"] = True
    start["ko_rule"] = POSITIONAL_SUPERKO
    assert games(start, [int(start["hash"][0])], 5) == paths(0, frozenset({0}), 5)
