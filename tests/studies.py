"""Studies of mistakes on drawn positions, with chosen owners of points and without any search."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from drawn_positions import drawn

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.study.reasons.variation import Study, Variation, play_line


def variation(
    game: Game,
    line: Iterable[str | int],
    owned: dict[str, float] | None = None,
    *,
    rest: float = 0.0,
    lead: float = 0.0,
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
    return Variation(points, games, ownership, lead, gain)


def study(played: Variation, better: Variation) -> Study:
    return Study(played.games[0].to_move, played, better)


def inverted(diagram: str) -> str:
    """The same with Black's stones white and White's black."""
    return diagram.translate(str.maketrans("XO", "OX"))


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
# A capturing race: whoever moves first captures the other side's three stones.
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


def region(
    played: str, better: str = "C3", owned: tuple[float, float] = (-0.2, 0.8), lead: float = 6.0, more: str = ""
) -> Study:
    return compared(EMPTY_BOARD, "A1 B1 C1 A2 B2 C2" + more, played, better, owned, lead=lead)


def cut(played: str, better: str, rest: float = 0.55, diagram: str = CUT) -> Study:
    game, _ = drawn(diagram)
    return study(variation(game, played.split(), rest=-0.3), variation(game, better.split(), rest=rest))


def bigger_point(played: str, lead: float = 3.0) -> Study:
    """A study of a move instead of C3, which brings fewer points in all than the 8 in the corner at A1."""
    return region(played, owned=(0.0, 1.0), lead=lead, more=" D1 D2")


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


def sente(better: float | None = 15.0, played: float | None = 4.0) -> Study:
    game, _ = drawn(CUT)
    about = study(variation(game, ["A1"], gain=played), variation(game, ["D4"], gain=better))
    return replace(about, better=replace(about.better, threat=(game.point("D3"),)))


# Two lines each, and the owner of the stones after both.
WORKING, FAILING = ("G1", "D5", (-0.9, 0.9)), ("D5 C4 C3", "G7", (-0.9, 0.0))
