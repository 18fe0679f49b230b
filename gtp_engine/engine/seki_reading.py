"""Stones that look dead but cannot be captured: a network often takes the smaller side of a seki for dead."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..go.coords import EMPTY, opponent
from ..go.game import Game
from ..go.life import unproven_chains
from ..go.regions import Cell, Region, cells_of, find_liberties, find_regions, neighbours, points_of
from ..solver import ahead
from ..solver.local_board import ATTACKER, NO_KO
from ..solver.moves import FAILED
from ..solver.part import closed_parts
from ..solver.reading import Memory, Position, Reading

# Empty points of the part in which a chain is read, and positions for it in all, about a tenth of a second's.
_MOST_EMPTY, _MOST_POSITIONS = 12, 30_000
_NOBODY = -1  # has more ko threats than the other


def uncapturable_stones(game: Game, dead: Iterable[int]) -> set[int]:
    """Returns those of the stones taken for dead that live, since the opponent cannot capture them.

    The opponent moves first and has safe walls. Nobody has ko threats, so a ko is retaken after a pass only: that is
    how the Japanese rules of 1989 confirm life and death (article 7); under other rules, too, threats elsewhere are not
    seen. As in `solve`, superko is ignored, and repeating a position does not capture stones.

    What is proved lends its life to the chains around it (`_with_neighbours`). Nothing is proved until the solver is
    ready (`solver.ahead`): compiling it begins here, but nobody waits for it, since a clock may be running.
    """
    stones, taken = game.stones(), set(cells_of(dead, game.width))
    doubtful = (chain for chain in unproven_chains(game) if chain.cells[0] in taken)
    chains = {points_of(chain.cells, game.width)[0]: chain for chain in doubtful}
    parts = closed_parts(game, chains, _MOST_EMPTY, nearest=True)
    if not parts:
        return set()
    if not ahead.is_ready():
        ahead.begin()
        return set()
    memory = Memory()
    found: set[Cell] = set()
    for point, part in parts.items():
        reading = Reading(memory, part, ATTACKER, _NOBODY)
        if _fails(reading) or _lives_again(game, chains[point], reading, memory):
            found.update(chains[point].cells)
    return set(points_of(_with_neighbours(stones, taken, found), game.width))


def _fails(reading: Reading, position: Position | None = None, spent: int = 0) -> bool:
    """Whether the opponent is proved unable to capture, moving first or in a later position.

    spent: how many positions others have read for the same chain.
    """
    position = position or Position(reading.part.stones, NO_KO, ATTACKER)
    return reading.read(position, max(0, _MOST_POSITIONS - spent - reading.positions)) == FAILED


def _lives_again(game: Game, chain: Region, reading: Reading, memory: Memory) -> bool:
    """Whether the one move that captures a chain would let its owner play a stone there that cannot be captured.

    By the same article 7 such a chain is alive, as in a snapback or in "three points without capturing".
    """
    liberties = points_of(find_liberties(chain.cells, game.stones()), game.width)
    start = Position(reading.part.stones, NO_KO, ATTACKER)
    others = [step for step in reading.steps(start) if step.point not in liberties]
    captured = game.copy()
    captured.to_move = opponent(chain.colour)
    if (
        len(liberties) > 1
        or not captured.is_legal(liberties[0])  # a ko
        or any(step.value != FAILED and not _fails(reading, step.after) for step in others)
    ):
        return False
    captured.play(captured.to_move, liberties[0])
    spent = reading.positions
    for point in points_of(chain.cells, game.width):
        if captured.is_legal(point):
            again = captured.after(chain.colour, point)
            for part in closed_parts(again, [point], _MOST_EMPTY, nearest=True).values():
                reading = Reading(memory, part, ATTACKER, _NOBODY)
                if _fails(reading, spent=spent):
                    return True
                spent += reading.positions
    return False


def _with_neighbours(stones: NDArray[np.int8], taken: set[Cell], found: set[Cell]) -> set[Cell]:
    """Returns the stones that were found to live, and those of the others taken for dead that live with them.

    A stone is removed as dead where the opponent alone surrounds it. So it lives if, without the dead stones, its empty
    region would touch a stone of its colour that lives: a network takes a group for dead as a whole, and not every
    chain of a seki can be proved to be safe, such as a stone that a ko would capture.
    """
    while True:
        living, lent = stones.copy(), set[Cell]()
        for cell in taken - found:
            living[cell] = EMPTY
        for area in find_regions(living):
            if area.colour == EMPTY and found:
                beside = {near for cell in area.cells for near in neighbours(cell, stones.shape)} & found
                colours = {int(stones[cell]) for cell in beside}
                lent.update(cell for cell in area.cells if stones[cell] in colours)
        if not lent:
            return found
        found = found | lent
