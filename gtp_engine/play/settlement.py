"""Which stones are dead once both players have passed, so that the game can be counted.

After two passes nobody has anything left to gain, so the stones make sense together: what surrounds territory lives,
what lives has two eyes or shares its liberties, and a region is one player's or a few neutral points. Ownership that is
judged chain by chain does not know that; a large group that it doubts may come out half alive. Here the dead stones are
chosen together: of the ways to settle the board, the one that explains the ownership best. If few empty points are
left, doubtful stones are read instead (`seki_reading`).
"""

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from ..game.coords import BLACK, EMPTY, WHITE
from ..game.game import Game
from ..game.life import dead_stones, proven_owners
from ..game.regions import find_liberties, find_regions, neighbours, points_of
from ..game.scoring import are_two_eyes
from .seki_reading import uncapturable_stones

# Found on 1,500 games of strong amateurs; within a factor of two of each other the results hardly differ.
# No ownership is trusted further than this: networks are surer of themselves than they are right.
_LEAST_DOUBT = 0.05
# The likelihood of a neutral point where the ownership is certain, and how much it grows to where it is 0.
_NEUTRAL, _NEUTRAL_AT_ZERO = 0.02, 0.3
# An ownership of two thirds leaves no more room for neutrality than a certain one.
_NEUTRAL_SLOPE = 1.5
# What a living group without two eyes costs, as a negative logarithm: in a seki it may be right.
_EYELESS = 2.0
# Chains with a mean ownership beyond this are not reconsidered.
_CERTAIN = 0.99
# How many of the largest doubtful groups are tried in pairs, one dying so that the other lives.
_PAIRED = 6

Chains = frozenset[int]


def agreed_dead(game: Game, ownership: NDArray[np.floating]) -> set[int]:
    """Returns the points of the stones that are dead in a finished game.

    Args:
        game: The game; its present position is judged.
        ownership: float [height, width] from -1 (White) to 1 (Black), whoever moves first.
    """
    board = _Settlement(game, ownership)
    stones = dead_stones(game, ownership)
    chains = board.settle(frozenset(board.chains_at(stones)))
    dead = set(points_of((cell for chain in chains for cell in board.parts[chain].cells), game.width))
    return dead - uncapturable_stones(game, ownership, dead)


class _Settlement:
    """A position as a graph of chains and empty regions, and the cost of taking some of the chains for dead.

    Attributes:
        parts: The chains and the empty regions.
    """

    def __init__(self, game: Game, ownership: NDArray[np.floating]) -> None:
        stones = game.stones()
        self.parts = find_regions(stones)
        self._width = game.width
        self._part_at = {cell: number for number, part in enumerate(self.parts) for cell in part.cells}
        self._near = [self._neighbours(number, stones.shape) for number in range(len(self.parts))]
        self._colours = [part.colour for part in self.parts]
        costs = _costs(ownership)
        self._costs = [[float(sum(cost[cell] for cell in part.cells)) for cost in costs] for part in self.parts]
        self._doubtful = self._find_doubtful(ownership, proven_owners(game))
        self._groups = self._find_groups(stones)
        self._known: dict[Chains, float] = {}

    def chains_at(self, points: set[int]) -> Iterator[int]:
        """Yields the numbers of the chains on these points."""
        for number, part in enumerate(self.parts):
            if not points.isdisjoint(points_of(part.cells, self._width)):
                yield number

    def _neighbours(self, number: int, shape: tuple[int, ...]) -> list[int]:
        near = (self._part_at[other] for cell in self.parts[number].cells for other in neighbours(cell, shape))
        return sorted(set(near) - {number})

    def _find_doubtful(self, ownership: NDArray[np.floating], proven: NDArray[np.int8]) -> list[int]:
        """Returns the chains that may be dead or alive."""
        found = []
        for number, part in enumerate(self.parts):
            mean = float(np.mean([ownership[cell] for cell in part.cells]))
            if part.colour != EMPTY and proven[part.cells[0]] == EMPTY and abs(mean) < _CERTAIN:
                found.append(number)
        return found

    def _find_groups(self, stones: NDArray[np.int8]) -> list[Chains]:
        """Returns the doubtful chains in groups that share liberties, the largest group first."""
        liberties = {number: find_liberties(self.parts[number].cells, stones) for number in self._doubtful}
        group = {number: {number} for number in self._doubtful}
        for one, other in combinations(self._doubtful, 2):
            shared = self._colours[one] == self._colours[other] and liberties[one] & liberties[other]
            if shared and group[one] is not group[other]:
                group[one] |= group[other]
                for number in group[other]:
                    group[number] = group[one]
        groups = {frozenset(chains) for chains in group.values()}
        return sorted(groups, key=lambda chains: (-sum(len(self.parts[one].cells) for one in chains), min(chains)))

    def settle(self, dead: Chains) -> Chains:
        """Returns the dead chains, changed step by step for as long as that costs less."""
        while self._doubtful:
            best = min(self._changes(dead), key=lambda changed: (self._cost(changed), sorted(changed)))
            if self._cost(best) >= self._cost(dead):
                break
            dead = best
        return dead

    def _changes(self, dead: Chains) -> set[Chains]:
        """Returns what differs by the fate of a chain or a group, or of two groups of which one dies."""
        units = {*self._groups, *(frozenset([chain]) for chain in self._doubtful)}
        changes = {dead | unit for unit in units} | {dead - unit for unit in units}
        return changes | {(dead | one) - other for one, other in permutations(self._groups[:_PAIRED], 2)}

    def _cost(self, dead: Chains) -> float:
        """Returns how unlikely it is that these chains are dead and the others alive, as a negative logarithm."""
        if dead not in self._known:
            living = [colour != EMPTY and number not in dead for number, colour in enumerate(self._colours)]
            cost = sum(self._costs[number][self._colours[number]] for number, lives in enumerate(living) if lives)
            region_of: dict[int, int] = {}
            regions: list[tuple[int, int]] = []  # owner, size
            for number, lives in enumerate(living):
                if not lives and number not in region_of:
                    parts, owner = self._region(number, living)
                    region_of.update(dict.fromkeys(parts, len(regions)))
                    regions.append((owner, sum(len(self.parts[part].cells) for part in parts)))
                    cost += sum(self._costs[part][owner] for part in parts)
            self._known[dead] = cost + _EYELESS * self._count_eyeless(living, region_of, regions)
        return self._known[dead]

    def _region(self, start: int, living: list[bool]) -> tuple[list[int], int]:
        """Returns the parts that are connected to one that is empty or dead, and the owner of their points."""
        parts, seen, borders = [start], {start}, set()
        for part in parts:  # grows while it is walked over
            for near in self._near[part]:
                if living[near]:
                    borders.add(self._colours[near])
                elif near not in seen:
                    seen.add(near)
                    parts.append(near)
        return parts, borders.pop() if len(borders) == 1 else EMPTY

    def _count_eyeless(self, living: list[bool], region_of: dict[int, int], regions: list[tuple[int, int]]) -> int:
        """Counts the living groups, connected by their territory and by neutral points, that have no two eyes."""
        seen: set[int] = set()
        count = 0
        for start, lives in enumerate(living):
            if not lives or start in seen:
                continue
            colour, parts, eyes = self._colours[start], [start], {}
            seen_here = {start}
            for part in parts:
                for near in self._near[part]:
                    owner, size = (self._colours[near], 0) if living[near] else regions[region_of[near]]
                    if near in seen_here or owner == BLACK + WHITE - colour:
                        continue
                    if size and owner == colour:
                        eyes[region_of[near]] = size
                    seen_here.add(near)
                    parts.append(near)
            seen.update(part for part in parts if living[part])
            count += not are_two_eyes(list(eyes.values()))
        return count


def _costs(ownership: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Returns the cost, as a negative logarithm, of a point being neutral, Black's or White's."""
    black = np.clip((1 + ownership) / 2, _LEAST_DOUBT, 1 - _LEAST_DOUBT)
    neutral = _NEUTRAL + _NEUTRAL_AT_ZERO * np.clip(1 - _NEUTRAL_SLOPE * np.abs(ownership), 0, 1)
    return [-np.log(neutral), -np.log(black), -np.log(1 - black)]
