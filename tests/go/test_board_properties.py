"""Random games on the compiled board and on the plain reference board, compared after each move."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest
from cases import some
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_board import BLACK, EMPTY, WHITE, Point, ReferenceBoard

from gtp_engine.go.board import ZOBRIST, atari_liberty, find_liberties, in_atari
from gtp_engine.go.coords import PASS, point_at, xy
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS, Rules

ALL_KO_RULES = [
    replace(RULESETS["tromp-taylor"], ko=ko, suicide=suicide, has_button=button)
    for ko, suicide, button in product(("SIMPLE", "POSITIONAL", "SITUATIONAL"), (False, True), (False, True))
]
KEYS = ZOBRIST.tolist()


class Pair:
    """The same game twice."""

    def __init__(self, width: int, height: int, rules: Rules) -> None:
        self.game = Game(width, height, rules=rules)
        self.reference = ReferenceBoard(width, height, rules.ko, rules.suicide)
        self.reference.button = rules.has_button
        self.points = {at: point_at(*at, width) for at in self.reference.points()}
        self.point = self.points.__getitem__

    def legal_points(self, points: Sequence[Point]) -> list[Point]:
        """Those of `points` where the reference lets the player to move play; both boards agree on each."""
        colour = self.reference.to_move
        legal = self.game.legal_moves(colour)
        found = []
        for x, y in points:
            expected = self.reference.illegality((x, y), colour) is None
            assert legal[y * self.game.width + x] == expected, self._about((x, y))
            if expected:
                found.append((x, y))
        assert legal[-1]
        return found

    def play(self, at: Point | None, colour: int) -> None:
        self.game.play(colour, PASS if at is None else self.point(at))
        self.reference.play(at, colour)
        self.compare()

    def compare(self) -> None:
        """Stones, captures, ko, turn and passes."""
        game, reference = self.game, self.reference
        stones = [reference.stones.get(at, EMPTY) for at in self.points]
        assert game.stones().ravel().tolist() == stones, self._about()
        assert {c: game.captures(c) for c in (BLACK, WHITE)} == reference.prisoners, self._about()
        assert (game.to_move, game.passes) == (reference.to_move, reference.passes), self._about()
        ko = PASS if reference.ko is None else self.point(reference.ko[0])
        assert game.board["ko_point"][0] == ko, self._about()

    def compare_kept(self) -> None:
        """What the board keeps from move to move, where an error usually stays: its hash, its empty points, its chains.

        Of the chains these are the sizes and liberties, by both ways of counting.
        """
        board, expected = self.game.board[0], 0
        for at, colour in self.reference.stones.items():
            expected ^= KEYS[self.point(at)][colour]
        assert board["hash"] == expected, self._about()
        heads = board["chain"].tolist()
        for chain in self.reference.all_chains():
            stone = next(iter(chain))
            liberties = self.reference.liberties(stone)
            count, *two = find_liberties(board, self.point(stone), 4)
            named = {xy(point, self.game.width) for point in two if point != PASS}
            assert count == min(4, len(liberties)), self._about(stone)
            assert named <= liberties and len(named) == min(2, len(liberties)), self._about(stone)
            head = heads[self.point(stone)]
            assert {heads[self.point(at)] for at in chain} == {head}
            assert board["chain_size"][head] == len(chain)
            assert in_atari(board, head) == (len(liberties) == 1), self._about()
            if len(liberties) == 1:
                assert xy(atari_liberty(board, head), self.game.width) == liberties.pop()
        empties = set(board["empties"][: board["empty_count"]].tolist())
        assert empties == {point for at, point in self.points.items() if at not in self.reference.stones}

    def _about(self, at: Point | None = None) -> str:
        return f"{self.game.rules} moves {self.game.moves} at {at}\n{self.reference.diagram()}"


def play_random_game(pair: Pair, choices: Iterator[int], points_checked: int) -> int:
    """Plays by `choices`: one in 16 a pass, one in 32 out of turn. Returns the number of moves.

    At each move `points_checked` points, a run that begins at random, are compared as to legality.
    """
    moves = 0
    all_points = list(pair.points)
    for choice in choices:
        colour = pair.reference.to_move
        if choice % 32 == 1 and len(pair.reference.stones) > 2:
            colour = 3 - colour
            pair.reference.begin_history(colour)
        start = choice // 32 % len(all_points)
        points = (all_points[start:] + all_points[:start])[:points_checked]
        legal = pair.legal_points(points)
        at = None if choice % 16 == 0 or not legal else legal[choice // 16 % len(legal)]
        pair.play(at, colour)
        if choice % 16 == 3:
            pair.compare_kept()
        moves += 1
    pair.compare_kept()
    return moves


choices = st.lists(st.integers(0, 2**20), min_size=60, max_size=200)


@settings(max_examples=some(60), deadline=None)
@given(st.integers(2, 5), st.integers(2, 5), st.sampled_from(ALL_KO_RULES), choices)
def test_small_boards_play_as_the_reference(width: int, height: int, rules: Rules, moves: list[int]) -> None:
    play_random_game(Pair(width, height, rules), iter(moves), points_checked=25)


@settings(max_examples=some(12), deadline=None)
@given(st.integers(2, 25), st.integers(2, 25), st.sampled_from(ALL_KO_RULES), choices)
def test_every_size_plays_as_the_reference(width: int, height: int, rules: Rules, moves: list[int]) -> None:
    play_random_game(Pair(width, height, rules), iter(moves), points_checked=12)


@settings(max_examples=some(20), deadline=None)
@given(st.integers(2, 6), st.integers(2, 6), choices)
def test_undo_brings_every_position_back(width: int, height: int, moves: list[int]) -> None:
    pair = Pair(width, height, RULESETS["tromp-taylor"])
    play_random_game(pair, iter(moves), points_checked=36)
    game = pair.game
    replayed = Game(width, height, rules=game.rules)
    positions = [state_of(replayed)]
    for move in game.moves:
        replayed.play(move.colour, move.point)
        positions.append(state_of(replayed))
    while game.moves:
        assert state_of(game) == positions.pop()
        game.undo()
    assert state_of(game) == positions.pop()


def state_of(game: Game) -> tuple[object, ...]:
    board = game.board[0]
    captures = board["captures"].tolist()
    return game.stones().tolist(), game.to_move, game.passes, int(board["hash"]), captures, int(board["ko_point"])


# Small boards see most captures, kos and repetitions; the others see long chains and every stride.
SIZES = [(2, 2), (3, 2), (3, 3), (2, 7), (4, 4), (5, 3), (5, 5), (6, 6), (7, 7), (9, 9), (13, 5), (19, 19), (25, 25)]
CHUNK = 20_000


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(some(50)))  # a million moves in all
def test_long_random_games_play_as_the_reference(chunk: int) -> None:
    """20,000 moves; on each, the legality of 8 points and the position are compared."""
    generator = random.Random(chunk)
    moves = 0
    while moves < CHUNK:
        width, height = generator.choice(SIZES)
        pair = Pair(width, height, generator.choice(ALL_KO_RULES))
        length = min(CHUNK - moves, 3 * width * height + 20, 700)
        moves += play_random_game(pair, (generator.randrange(2**20) for _ in range(length)), points_checked=8)
