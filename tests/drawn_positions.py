"""Positions for the tests of the rollouts and of the end of games."""

import numpy as np
from reference_board import ReferenceBoard, read_diagram
from reference_life import plain_area

from gtp_engine.go.coords import BLACK, WHITE, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS, Rules


def drawn(
    diagram: str, to_move: int = BLACK, *, rules: Rules = RULESETS["chinese"], komi: float = 0.0
) -> tuple[Game, dict[str, int]]:
    """A game that starts from a drawn board (X black, O white), and the points of the board's marks."""
    width, height, stones, marks = read_diagram(diagram)
    game = Game(width, height, rules=rules, komi=komi)
    by_colour = {colour: [point_at(*at, width) for at in stones if stones[at] == colour] for colour in (BLACK, WHITE)}
    game.set_up(by_colour[BLACK], by_colour[WHITE], to_move)
    return game, {mark: point_at(*at, width) for mark, at in marks.items()}


# White has no liberties but those that it shares with Black, and whoever fills one first is captured.
SEKI = """
    O O O O X . X
    X . O X X X X
    X O O X X . X
    X . O X X X X
    O O O O X X .
    O X O X X X X
    O X X X X . X
"""


def game_of(diagram: str, rules: str = "chinese", komi: float = 6.5, to_move: int = BLACK) -> Game:
    """A game that starts from a drawn board: X black, O white; x and o are dead stones of theirs."""
    return drawn(diagram.upper(), to_move, rules=RULESETS[rules], komi=komi)[0]


def seen_ownership(text: str, game: Game, certainty: float = 0.9) -> np.ndarray:
    """What a search would find: territory by the nearest living stone in the row, dead stones to their captors."""
    owned = np.zeros((game.height, game.width))
    for y, line in enumerate(text.strip().splitlines()):
        cells = line.split()
        for x, cell in enumerate(cells):
            living = [(abs(x - i), other) for i, other in enumerate(cells) if other in "XO"]
            colour = {"X": 1.0, "O": -1.0, "x": -1.0, "o": 1.0}.get(cell, 1.0 if min(living)[1] == "X" else -1.0)
            owned[y, x] = certainty * colour
    return owned if game.to_move == BLACK else -owned


def played(
    moves: str, width: int = 9, height: int | None = None, *, rules: Rules | str = "chinese", komi: float | None = None
) -> Game:
    """Returns a game of these moves, by turns."""
    game = Game(width, height, rules=rules, komi=komi)
    for name in moves.split():
        game.play(game.to_move, name)
    return game


def random_position(width: int, height: int, moves: int, seed: int, komi: float = 0.0) -> Game:
    """Returns a game after `moves` random legal moves, no passes."""
    random = np.random.default_rng(seed)
    game = Game(width, height, komi=komi)
    for _ in range(moves):
        legal = np.flatnonzero(game.legal_moves()[:-1])
        if not len(legal):
            break
        move = int(random.choice(legal))
        game.play(game.to_move, point_at(move % width, move // width, width))
    return game


def reference_of(board: np.ndarray) -> ReferenceBoard:
    """The stones of a board (BOARD [1]) on the slow board."""
    width, height = int(board["width"][0]), int(board["height"][0])
    reference = ReferenceBoard(width, height)
    stones = board["stones"][0]
    for y in range(height):
        for x in range(width):
            if stones[point_at(x, y, width)]:
                reference.stones[x, y] = int(stones[point_at(x, y, width)])
    return reference


def plain_margin(board: np.ndarray) -> int:
    """The points of Black less those of White on a board (BOARD [1]), all stones alive."""
    owners = list(plain_area(reference_of(board)).values())
    return owners.count(BLACK) - owners.count(WHITE)


# Nothing is left but eyes: black has 45 points, white 36.
FINISHED = """
    . X . X X O . O .
    X X X X X O O O O
    X X X X X O O O O
    X X X X X O O O O
    X X X X X O O O O
    X X X X X O O O O
    X X X X X O O O O
    X X X X X O O O O
    X X X X X O O O O
"""
# Black lives and surrounds two stones that cannot; some room is left along the border.
DEAD_STONES = """
    . . . X O . . . .
    . O . X O . O O .
    . . . X O . . . .
    X X X X O O . O .
    . . . X X O . . .
    . . . . X O O O O
    . X . . X X X O .
    . . X . . . X O .
    . . . . . . X O .
"""
# White has a dead stone in Black's corner, and much is open.
BEFORE_THE_END = """
    . X . X O . O . .
    . O . X O . O . .
    . . . X O . . . .
    X X X X X O O . .
    . . . . X . . . .
    . . . X . . O . .
    . X . X O O . O .
    . . X O . . . . .
    . . . . . . . . .
"""

# The ends of games: black has the left and the bottom, 28 points to 21. Nothing is left to play for.
SETTLED = """
    . X . X O . .
    X X X X O O .
    . X . X O . O
    . . X X O O O
    . X . X O . .
    . X X X O O O
    . . . X O . .
"""
# The same with two dead white stones on the left and a dead black one on the right.
PRISONERS = """
    . X . X O . .
    X X X X O O .
    . X . X O . O
    . o X X O O O
    . X . X O . x
    . X X X O O O
    . o . X O . .
"""
# The player who plays E7 gains a point.
BETWEEN_BOTH = """
    . X . X . O .
    X X X X O O .
    . X . X O . O
    . . X X O O O
    . X . X O . .
    . X X X O O O
    . . . X O . .
"""
