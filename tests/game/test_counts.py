"""Numbers of positions and of games on tiny boards, against published ones.

J. Tromp and G. Farnebaeck, "Combinatorics of Go" (2016): sections 3 (legal positions) and 6 (games). A game there is a
row of moves, of any player at any time, in which no position comes twice.
"""

from itertools import product

import numpy as np
import pytest

from gtp_engine.base.jit import njit
from gtp_engine.game.board import (
    POSITIONAL_SUPERKO,
    clear,
    is_legal,
    is_legal_but_superko,
    new_board,
    play,
    set_up_stone,
)
from gtp_engine.game.coords import BLACK, EMPTY, PASS, WHITE, all_points
from gtp_engine.game.game import Game

LEGAL_POSITIONS = {(2, 2): 57, (2, 3): 489, (3, 2): 489, (2, 4): 4125, (4, 2): 4125, (3, 3): 12675, (5, 2): 35117}
MORE_LEGAL_POSITIONS = {(2, 6): 299681, (3, 4): 321689, (4, 3): 321689, (3, 5): 8180343, (4, 4): 24318165}


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


@njit
def count_legal_positions(board: np.ndarray, width: int, height: int) -> int:
    """The colourings of the points, all tried, in which every chain has a liberty."""
    points = [(y + 1) * (width + 1) + x + 1 for y in range(height) for x in range(width)]
    legal = 0
    for number in range(3 ** len(points)):
        clear(board, width, height)
        colours = number
        for point in points:
            if colours % 3 != EMPTY:
                set_up_stone(board, point, colours % 3)
            colours //= 3
        legal += all_chains_breathe(board, points)
    return legal


@njit
def all_chains_breathe(board: np.ndarray, points: list[int]) -> bool:
    """Whether no stone was taken when it was set up, and none has been left without a liberty."""
    for point in points:
        if board["captured_at"][point]:
            return False
        if board["stones"][point] != EMPTY and board["liberties"][board["chain"][point]] == 0:
            return False
    return True


@pytest.mark.parametrize(("width", "height"), LEGAL_POSITIONS)
def test_number_of_legal_positions(width: int, height: int) -> None:
    assert count_legal_positions(new_board(2, 2)[0], width, height) == LEGAL_POSITIONS[width, height]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), MORE_LEGAL_POSITIONS)
def test_number_of_legal_positions_on_larger_boards(width: int, height: int) -> None:
    assert count_legal_positions(new_board(2, 2)[0], width, height) == MORE_LEGAL_POSITIONS[width, height]


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


@njit
def bit_count(bits: np.uint64) -> int:
    count = 0
    while bits:
        bits &= bits - np.uint64(1)
        count += 1
    return count


@njit
def count_paths(moves: np.ndarray, start: int, seen: np.uint64) -> int:
    """The paths from `start` that visit no position twice and none of `seen`; moves and seen are sets of bits."""
    one = np.uint64(1)
    left = np.zeros(64, np.uint64)
    node = np.zeros(64, np.int64)
    depth = 0
    node[0] = start
    seen |= one << np.uint64(start)
    left[0] = moves[start] & ~seen
    paths = 1
    while depth >= 0:
        if left[depth] == 0:
            seen &= ~(one << np.uint64(node[depth]))
            depth -= 1
            continue
        lowest = left[depth] & (~left[depth] + one)
        left[depth] &= ~lowest
        paths += 1
        after = bit_count(lowest - one)
        further = moves[after] & ~seen & ~lowest
        if further:
            depth += 1
            node[depth] = after
            left[depth] = further
            seen |= lowest
    return paths


def as_bits(numbers: set[int]) -> int:
    return sum(1 << number for number in numbers)


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


@pytest.mark.slow
def test_number_of_games_on_2x2() -> None:
    """386,356,909,593: 1 has no move, the others begin with one of eight equivalent moves."""
    moves = position_graph(2, 2, suicide=True)
    bits = np.array([as_bits(after) for after in moves], np.uint64)
    first = min(moves[0])
    assert len(moves[0]) == 8
    games = 1 + 8 * count_paths(bits, first, np.uint64(1))
    assert games == 386_356_909_593
