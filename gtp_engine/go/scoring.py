"""The count at the end of a game: areas, territories, dead stones, and the score under each ruleset."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.jit import njit
from .board import Board, button_points, points_beside
from .coords import BLACK, EMPTY, WALL, WHITE, opponent
from .regions import Cell, cells_of, find_liberties, find_regions, neighbours, parts_of
from .rules import Rules

NEUTRAL = EMPTY
# An eye with this many playable points becomes two even if no single move divides it: the smallest is two by three.
_ROOM_FOR_TWO_EYES = 6


@dataclass(frozen=True)
class Score:
    """A result in points: Black's margin over White, komi included.

    As text it is written as in SGF and GTP: B+3.5, W+12 or 0. A number that ends in .25 or .75 gets a further digit,
    because records of Chinese servers count zi in such numbers, which are two points each: W+4.250.
    """

    points: float

    def __str__(self) -> str:
        if self.points == 0:
            return "0"
        points = np.format_float_positional(abs(self.points), precision=6, trim="-")
        points += "0" if points.endswith((".25", ".75")) else ""
        return f"{'B' if self.points > 0 else 'W'}+{points}"

    @property
    def winner(self) -> int:
        """BLACK, WHITE, or EMPTY for a draw."""
        return BLACK if self.points > 0 else WHITE if self.points < 0 else EMPTY


@dataclass(frozen=True)
class Count:
    """What the players have in the end: Black's points, White's, and White's komi with every compensation."""

    black: float
    white: float
    komi: float

    @property
    def score(self) -> Score:
        """The result."""
        return Score(self.black - self.white - self.komi)

    def __str__(self) -> str:
        """Both sums in English: Black 22, White 51 + 7."""
        komi = f" {'+' if self.komi > 0 else '-'} {abs(self.komi):g}" if self.komi else ""
        return f"Black {self.black:g}, White {self.white:g}{komi}"


def count_points(stones: NDArray[np.int8], dead: Iterable[int], rules: Rules) -> dict[int, float]:
    """Counts the board of a finished game under these rules.

    Under area rules captured stones are worth nothing, and without dead stones this is the exact Tromp-Taylor count.
    Under territory rules a stone that is removed as dead is worth a point to the opponent, and a point that has to be
    filled once the neutral points are belongs to nobody. The search and the rollouts have compiled counts:
    `area_margin` and `rollouts.count_area`.

    Args:
        stones: The stones, int8 [height, width].
        dead: The points of those to take off first.

    Returns:
        The points of BLACK and WHITE, without prisoners, komi and the button; `Game.count` adds those.
    """
    living = living_stones(stones, dead)
    owner, groups = count_owners(stones, living, rules)
    points = {}
    for colour in (BLACK, WHITE):
        owned, prisoners = owner == colour, np.zeros_like(living, bool)
        if rules.scoring == "TERRITORY":
            owned, prisoners = owned & (living == EMPTY), (living == EMPTY) & (stones == opponent(colour))
        points[colour] = float(np.count_nonzero(owned) + np.count_nonzero(prisoners) - 2 * groups[colour])
    return points


def living_stones(stones: NDArray[np.int8], dead: Iterable[int]) -> NDArray[np.int8]:
    """Returns the stones, int8 [height, width], without those on the points in `dead`."""
    living = stones.copy()
    for cell in cells_of(dead, stones.shape[1]):
        living[cell] = EMPTY
    return living


def count_owners(
    stones: NDArray[np.int8], living: NDArray[np.int8], rules: Rules
) -> tuple[NDArray[np.int8], dict[int, int]]:
    """Returns who owns each point under these rules, and the number of groups by colour that pay the group tax."""
    owner = enclosed(living)
    groups = {BLACK: 0, WHITE: 0}
    by_area = rules.scoring == "AREA"
    if not by_area:
        _fill_connections(stones, living, owner)
    if rules.tax == "NONE":
        return owner, groups
    in_doubt = _stones_in_atari(living) if by_area else find_seki(stones, living, owner)
    for area in find_regions(owner):
        if area.colour == NEUTRAL:
            continue
        # By area an area lives by itself if it touches no neutral point and none of its stones is in atari: the
        # independent-life-regions of KataGo's rules (its docs/rules.html). A neutral point is worth a point there, so a
        # player who leaves one unfilled means it to be a seki.
        if (by_area and NEUTRAL in area.borders) or not in_doubt.isdisjoint(area.cells):
            for cell in area.cells:
                owner[cell] = living[cell]
        elif rules.tax == "ALL":
            groups[area.colour] += 1
    return owner, groups


def enclosed(living: NDArray[np.int8]) -> NDArray[np.int8]:
    """Returns the owner of each point: of stones their colour, of empty regions the colour that alone touches them."""
    owner = living.copy()
    for region in find_regions(living):
        if region.colour == EMPTY and len(region.borders) == 1:
            for cell in region.cells:
                owner[cell] = next(iter(region.borders))
    return owner


def _fill_connections(stones: NDArray[np.int8], living: NDArray[np.int8], owner: NDArray[np.int8]) -> None:
    """Takes the points from their owner that have to be filled once the neutral points are; `owner` is changed.

    Games are counted before the last neutral points are filled. Chains that are connected through neutral points and
    have a single liberty in their own territory will be in atari then, and connect there, unless that point is an eye
    of their own. Where a dead stone is on the point, they first fill the liberties of its chain to capture it.
    """
    filled = living.copy()
    prisoners = find_regions(np.where(living == EMPTY, stones, EMPTY))
    for colour in (BLACK, WHITE):
        while cells := _connections(filled, owner, colour):
            captured = [chain.cells for chain in prisoners if chain.colour and not cells.isdisjoint(chain.cells)]
            for cell in cells.union(*(find_liberties(chain, stones) for chain in captured)):
                filled[cell], owner[cell] = colour, NEUTRAL


def _connections(filled: NDArray[np.int8], owner: NDArray[np.int8], colour: int) -> set[Cell]:
    """Returns points of this colour's territory that have to be filled; an empty set if there is none."""
    if forced := _forced_connections(filled, owner, colour):
        return forced
    linked = ((filled == colour) | ((filled == EMPTY) & (owner == NEUTRAL))).astype(np.int8)
    for region in find_regions(linked):
        stones = {cell for cell in region.cells if filled[cell] == colour}
        if not region.colour or not stones:
            continue
        liberties = {cell for cell in find_liberties(stones, filled) if owner[cell] == colour}
        if len(liberties) == 1 and not all(stones.issuperset(neighbours(cell, filled.shape)) for cell in liberties):
            return liberties
    return set()


def _forced_connections(filled: NDArray[np.int8], owner: NDArray[np.int8], colour: int) -> set[Cell]:
    """Returns the points of this colour's territory where a chain has to connect whichever neutral point it takes.

    The opponent takes one of two neutral points that each put a chain in atari, whose last liberty is the same point.
    Neutral points where the owner's move is an atari do not count (`_is_quiet`): after the answer it may take the other
    one, too. Other threats are not looked for.
    """
    threats: dict[Cell, set[Cell]] = {}
    around: dict[Cell, set[Cell]] = {}
    for chain in find_regions(filled):
        if chain.colour == colour:
            liberties = find_liberties(chain.cells, filled)
            own = {cell for cell in liberties if owner[cell] == colour}
            for cell in own:
                around.setdefault(cell, set()).update(chain.cells)
                if len(own) == 1 and len(liberties) == 2:
                    quiet = {place for place in liberties - own if _is_quiet(place, filled, colour)}
                    threats.setdefault(cell, set()).update(quiet)
    return {
        cell
        for cell, neutral in threats.items()
        if len(neutral) > 1 and any(owner[other] == colour for other in find_liberties(around[cell], filled) - {cell})
    }


def _is_quiet(place: Cell, filled: NDArray[np.int8], colour: int) -> bool:
    """Whether a move of this colour on an empty point leaves each chain of the opponent's two liberties."""
    after, around = filled.copy(), set(neighbours(place, filled.shape))
    after[place] = colour
    chains = [chain.cells for chain in find_regions(after) if chain.colour == opponent(colour)]
    return all(len(find_liberties(cells, after)) > 1 for cells in chains if not around.isdisjoint(cells))


def _stones_in_atari(living: NDArray[np.int8]) -> set[Cell]:
    """Returns the stones of all chains with a single liberty."""
    chains = (region.cells for region in find_regions(living) if region.colour != EMPTY)
    return {cell for cells in chains if len(find_liberties(cells, living)) == 1 for cell in cells}


def find_seki(stones: NDArray[np.int8], living: NDArray[np.int8], owner: NDArray[np.int8]) -> set[Cell]:
    """Returns the stones and the territory of the groups in seki under territory scoring.

    By the letter of the rules every group that touches a neutral point is in seki. But games are counted before the
    last neutral points are filled, and then the whole board would be one seki. So it is the groups, connected by their
    territory and by neutral points, that touch such a point and have no two eyes.
    """
    found: set[Cell] = set()
    for colour in (BLACK, WHITE):
        linked = ((owner == colour) | (owner == NEUTRAL)).astype(np.int8)
        for group in find_regions(linked):
            own = {cell for cell in group.cells if owner[cell] == colour or living[cell] == colour}
            if group.colour and len(own) < len(group.cells) and not _has_two_eyes(own, stones, living):
                found |= own
    return found


def _has_two_eyes(own: set[Cell], stones: NDArray[np.int8], living: NDArray[np.int8]) -> bool:
    """Returns whether these points, apart from living stones, are two eyes or an eye that the owner can turn into two.

    The owner either moves first or captures the dead stones, after which the opponent plays on one of their points.
    """
    inside = {cell for cell in own if living[cell] == EMPTY}
    eyes = parts_of(inside)
    if len(eyes) != 1:
        return len(eyes) > 1
    # An opponent's stone beside an eye, on a point that has to be filled, takes the point next to it from the eye.
    firm = {cell for cell in inside if find_liberties([cell], living) <= inside}
    dead = {cell for cell in inside if stones[cell] != EMPTY}
    return _can_divide(inside, inside - dead, firm) or bool(
        dead and all(_can_divide(dead, dead - {taken}, firm) for taken in dead)
    )


def _can_divide(eye: set[Cell], playable: set[Cell], firm: set[Cell]) -> bool:
    """Returns whether a move on a playable cell divides an eye in two, or there is room for two eyes in any case."""
    return len(playable) >= _ROOM_FOR_TWO_EYES or any(
        sum(not firm.isdisjoint(part) for part in parts_of(eye - {cell})) > 1 for cell in playable
    )


@njit
def area_margin(board: Board) -> float:
    """Counts the board by area with every stone alive, as `count_points` does under plain area rules.

    Returns:
        Black's margin in points: stones, and empty regions that one colour alone surrounds, less komi, with the button.
    """
    stride = board["width"] + 1
    stones = board["stones"]
    # Allocated here: this runs once per finished game, not per leaf.
    seen = np.zeros(len(stones), np.uint8)
    stack = np.empty(board["empty_count"] + 1, np.int16)
    margin = 0
    for slot in range(board["empty_count"]):
        start = board["empties"][slot]
        if seen[start]:
            continue
        seen[start] = 1
        stack[0] = start
        top, size, border = 1, 0, 0
        while top:
            top -= 1
            point = stack[top]
            size += 1
            for neighbour in points_beside(board, point):
                if stones[neighbour] == EMPTY:
                    if not seen[neighbour]:
                        seen[neighbour] = 1
                        stack[top] = neighbour
                        top += 1
                elif stones[neighbour] != WALL:
                    border |= stones[neighbour]  # both colours make 3
        if border == BLACK:
            margin += size
        elif border == WHITE:
            margin -= size
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if stones[point] == BLACK:
                margin += 1
            elif stones[point] != EMPTY:
                margin -= 1
    return float(margin - board["komi"] + button_points(board))
