"""The first calls of the solver, which compile it, in another process (`ahead`)."""

from ..go.game import Game
from .local_board import ATTACKER, DEFENDER, NO_KO
from .part import find_part
from .reading import Memory, Position, Reading


def main() -> None:
    """Solves a small problem; `verification.read` is the last function that it compiles."""
    game = Game(5)
    game.set_up(["A5", "A4", "B4"], ["A3", "B3", "C4", "C5"])
    part = find_part(game, [game.point("A4")])
    reading, start = Reading(Memory(), part, ATTACKER, DEFENDER), Position(part.stones, NO_KO, ATTACKER)
    reading.proved_steps(start)
    reading.read(start, positions=5_000)
