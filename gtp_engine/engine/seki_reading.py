"""Stones that look dead but cannot be captured: a network often takes the smaller side of a seki for dead."""

from collections.abc import Iterable
from contextlib import suppress

from ..base.errors import UserError
from ..go.coords import EMPTY
from ..go.game import Game
from ..go.life import proven_owners
from ..go.regions import cells_of, find_regions, points_of
from ..solver import ahead
from ..solver.local_board import ATTACKER, NO_KO
from ..solver.moves import FAILED
from ..solver.part import Part, find_part
from ..solver.reading import Memory, Position, Reading

# Empty points of the part in which a chain is read, and positions, which take about a tenth of a second.
_MOST_EMPTY, _MOST_POSITIONS = 12, 30_000


def uncapturable_stones(game: Game, dead: Iterable[int]) -> set[int]:
    """Returns those of the stones taken for dead that the opponent, moving first, is proved unable to capture.

    The proof gives the opponent safe walls and all ko threats: by the Japanese rules of 1989 (article 7) a ko must not
    be retaken in the confirmation of life and death. As in `solve` there is no superko, and a cycle captures nothing.

    Nothing is proved until the solver is ready (`solver.ahead`), which is begun here: a clock may be running.
    """
    wanted, proven = cells_of(dead, game.width), proven_owners(game)
    chains = [
        points_of(chain.cells, game.width)
        for chain in find_regions(game.stones())
        if chain.colour != EMPTY and chain.cells[0] in wanted and proven[chain.cells[0]] == EMPTY
    ]
    readable: list[tuple[list[int], Part]] = []
    for chain in chains:
        with suppress(UserError):  # too large
            part = find_part(game, chain[:1], _MOST_EMPTY, nearest=True)
            if not part.is_open:
                readable.append((chain, part))
    if not readable:
        return set()
    if not ahead.is_ready():
        ahead.begin()
        return set()
    memory = Memory()
    found: set[int] = set()
    for chain, part in readable:
        reading = Reading(memory, part, ATTACKER, ATTACKER)
        if reading.read(Position(part.stones, NO_KO, ATTACKER), _MOST_POSITIONS) == FAILED:
            found.update(chain)
    return found
