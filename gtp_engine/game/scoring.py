"""The count at the end of a game: areas, territories, dead stones, and the score under each ruleset."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import board as boards
from .coords import BLACK, EMPTY, WHITE, point_at, xy
from .game import Game
from .life import find_pass_alive

NEUTRAL = EMPTY
# One eye of this size or larger is enough to live: it can be divided.
_DIVISIBLE_EYE = 3

Cell = tuple[int, int]  # row, column


@dataclass(frozen=True)
class Score:
    """A result in points: black's margin over white, komi included. As text it is SGF's and GTP's: B+3.5, W+12, 0."""

    points: float

    def __str__(self) -> str:
        if self.points == 0:
            return "0"
        return f"{'B' if self.points > 0 else 'W'}+{abs(self.points):g}"


def final_score(game: Game, dead: Iterable[int] = ()) -> float:
    """Black's margin in points under the game's rules, komi included, once the points in `dead` are taken off.

    Area rules without dead stones make it the exact Tromp-Taylor count.
    """
    living = _without(game, dead)
    owner = _owners(living)
    rules = game.rules
    groups = {BLACK: 0, WHITE: 0}
    if rules.tax != "NONE":
        for colour, area in _areas(owner):
            if _is_seki(area, owner, living):
                for cell in area:
                    owner[cell] = living[cell]
            elif rules.tax == "ALL":
                groups[colour] += 1
    if rules.scoring == "AREA":
        margin = _margin(owner)
    else:
        stones = game.stones()
        removed = _margin(np.where(living == EMPTY, stones, EMPTY))
        margin = _margin(np.where(living == EMPTY, owner, EMPTY)) - removed
        margin += game.captures(BLACK) - game.captures(WHITE)
    margin -= 2 * (groups[BLACK] - groups[WHITE])
    return margin - _white_points(game)


def area_map(game: Game, dead: Iterable[int] = ()) -> NDArray[np.int8]:
    """Whose each point is once the points in `dead` are taken off: int8 [height, width] of 0 (nobody), 1, 2.

    A player owns the points of its stones and the empty regions that touch its stones alone.
    """
    return _owners(_without(game, dead))


def dead_stones(game: Game, ownership: NDArray[np.floating]) -> set[int]:
    """The points of the dead chains: those whose points are the opponent's rather than their owner's.

    ownership: float [height, width] in -1..1, + for black. What is proven (pass-alive chains, stones inside pass-alive
    territory) overrides it.
    """
    proven = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, proven)
    stones = game.stones()
    dead: set[int] = set()
    for colour, chain in _regions(stones):
        if colour == EMPTY:
            continue
        owner = proven[chain[0][0] * game.width + chain[0][1]]
        mean = float(np.mean([ownership[cell] for cell in chain]))
        theirs = -mean if colour == BLACK else mean
        if owner == 3 - colour or (owner == NEUTRAL and theirs > 0):
            dead.update(point_at(x, y, game.width) for y, x in chain)
    return dead


def seki_stones(game: Game, dead: Iterable[int] = ()) -> set[int]:
    """The points of the living stones in seki, once the points in `dead` are taken off."""
    living = _without(game, dead)
    owner = _owners(living)
    areas = [area for _, area in _areas(owner) if _is_seki(area, owner, living)]
    return {point_at(x, y, game.width) for area in areas for y, x in area if living[y, x] != EMPTY}


def _white_points(game: Game) -> float:
    """Komi, compensation for handicap stones, and the button's half point."""
    button = {boards.BUTTON_WHITE: 0.5, boards.BUTTON_BLACK: -0.5}.get(int(game.board["button"][0]), 0.0)
    return game.komi + game.handicap_bonus + button


def _without(game: Game, dead: Iterable[int]) -> NDArray[np.int8]:
    stones = game.stones()
    for point in dead:
        x, y = xy(point, game.width)
        stones[y, x] = EMPTY
    return stones


def _margin(owner: NDArray[np.int8]) -> float:
    return float(np.count_nonzero(owner == BLACK)) - float(np.count_nonzero(owner == WHITE))


def _neighbours(cell: Cell, shape: tuple[int, ...]) -> Iterator[Cell]:
    row, column = cell
    if row > 0:
        yield row - 1, column
    if row + 1 < shape[0]:
        yield row + 1, column
    if column > 0:
        yield row, column - 1
    if column + 1 < shape[1]:
        yield row, column + 1


def _regions(colours: NDArray[np.int8]) -> list[tuple[int, list[Cell]]]:
    """The connected sets of equal colour, each with it."""
    regions = []
    seen: set[Cell] = set()
    for start in np.ndindex(colours.shape):
        cell = (start[0], start[1])
        if cell in seen:
            continue
        seen.add(cell)
        region = [cell]
        for member in region:
            for near in _neighbours(member, colours.shape):
                if near not in seen and colours[near] == colours[cell]:
                    seen.add(near)
                    region.append(near)
        regions.append((int(colours[cell]), region))
    return regions


def _border(region: Iterable[Cell], colours: NDArray[np.int8]) -> set[int]:
    """The colours of the points next to a region."""
    inside = set(region)
    return {int(colours[near]) for cell in inside for near in _neighbours(cell, colours.shape) if near not in inside}


def _owners(living: NDArray[np.int8]) -> NDArray[np.int8]:
    owner = living.copy()
    for colour, region in _regions(living):
        if colour == EMPTY and len(touching := _border(region, living)) == 1:
            for cell in region:
                owner[cell] = next(iter(touching))
    return owner


def _areas(owner: NDArray[np.int8]) -> list[tuple[int, list[Cell]]]:
    """The connected areas of one owner."""
    return [(colour, area) for colour, area in _regions(owner) if colour != NEUTRAL]


def _is_seki(area: list[Cell], owner: NDArray[np.int8], living: NDArray[np.int8]) -> bool:
    """Whether an area touches a neutral point and has no two eyes.

    The letter of the rules calls every area in seki that touches a neutral point; but games are counted before the last
    neutral points are filled, and then the letter would call the whole board a seki.
    """
    if NEUTRAL not in _border(area, owner):
        return False
    inside = np.full(living.shape, WHITE, np.int8)
    for cell in area:
        inside[cell] = BLACK if living[cell] == EMPTY else WHITE
    eyes = [len(eye) for colour, eye in _regions(inside) if colour == BLACK]
    return len(eyes) < 2 and max(eyes, default=0) < _DIVISIBLE_EYE
