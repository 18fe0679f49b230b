"""The count at the end of a game: areas, territories, dead stones, and the score under each ruleset."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .benson import find_pass_alive
from .board import BUTTON_BLACK, BUTTON_WHITE
from .coords import BLACK, EMPTY, WHITE, point_at, xy
from .game import Game
from .regions import Cell, Region, find_regions, neighbours

NEUTRAL = EMPTY
# A single eye of this size or larger is enough to live: it can be divided.
_DIVISIBLE_EYE = 3


@dataclass(frozen=True)
class Score:
    """A result in points: Black's margin over White, komi included.

    As text it is written as in SGF and GTP: B+3.5, W+12 or 0.
    """

    points: float

    def __str__(self) -> str:
        if self.points == 0:
            return "0"
        return f"{'B' if self.points > 0 else 'W'}+{abs(self.points):g}"

    @property
    def winner(self) -> int:
        """BLACK, WHITE, or EMPTY for a draw."""
        return BLACK if self.points > 0 else WHITE if self.points < 0 else EMPTY


def final_score(game: Game, dead: Iterable[int] = ()) -> float:
    """Counts a finished game under its rules.

    Under area rules captured stones are worth nothing, and without dead stones this is the exact Tromp-Taylor count.
    Under territory rules a stone that was captured, or that is removed as dead, is worth a point to the opponent. The
    search and the rollouts have compiled counts: `counting.area_margin` and `evaluate.rollouts.rollout.count_area`.

    Args:
        game: The game; its present position is counted.
        dead: The points of the stones to take off first.

    Returns:
        Black's margin in points, komi included.
    """
    living = living_stones(game, dead)
    owner = _owners(living)
    rules = game.rules
    groups = {BLACK: 0, WHITE: 0}
    if rules.tax != "NONE":
        in_atari = _stones_in_atari(living)
        for area in _areas(owner):
            is_seki = not _is_independent(area, in_atari) if rules.scoring == "AREA" else _is_seki(area, living)
            if is_seki:
                for cell in area.cells:
                    owner[cell] = living[cell]
            elif rules.tax == "ALL":
                groups[area.colour] += 1
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
    """Returns the owner of each point once the stones on the points in `dead` are taken off.

    A player owns the points of its stones and the empty regions that touch its stones alone.

    Returns:
        int8 [height, width] of EMPTY (nobody), BLACK and WHITE.
    """
    return _owners(living_stones(game, dead))


def dead_stones(game: Game, ownership: NDArray[np.floating]) -> set[int]:
    """Returns the points of the dead chains: those on points that the opponent rather than their colour owns.

    What is proven (pass-alive chains, and stones inside pass-alive territory) overrides the ownership.

    Args:
        game: The game; its present position is judged.
        ownership: float [height, width] from -1 (White) to 1 (Black).
    """
    proven = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, proven)
    dead: set[int] = set()
    for chain in find_regions(game.stones()):
        if chain.colour == EMPTY:
            continue
        row, column = chain.cells[0]
        owner = proven[row * game.width + column]
        mean = float(np.mean([ownership[cell] for cell in chain.cells]))
        opponents = -mean if chain.colour == BLACK else mean
        if owner == 3 - chain.colour or (owner == NEUTRAL and opponents > 0):
            dead.update(point_at(x, y, game.width) for y, x in chain.cells)
    return dead


def seki_stones(game: Game, dead: Iterable[int] = ()) -> set[int]:
    """Returns the points of the living stones in seki, once the stones on the points in `dead` are taken off."""
    living = living_stones(game, dead)
    areas = [area for area in _areas(_owners(living)) if _is_seki(area, living)]
    return {point_at(x, y, game.width) for area in areas for y, x in area.cells if living[y, x] != EMPTY}


def living_stones(game: Game, dead: Iterable[int]) -> NDArray[np.int8]:
    """Returns the stones, int8 [height, width], without those on the points in `dead`."""
    stones = game.stones()
    for point in dead:
        x, y = xy(point, game.width)
        stones[y, x] = EMPTY
    return stones


def _white_points(game: Game) -> float:
    """Komi, compensation for handicap stones, and the button's half point."""
    button = {BUTTON_WHITE: 0.5, BUTTON_BLACK: -0.5}.get(int(game.board["button"][0]), 0.0)
    return game.komi + game.handicap_bonus + button


def _margin(owner: NDArray[np.int8]) -> float:
    return float(np.count_nonzero(owner == BLACK)) - float(np.count_nonzero(owner == WHITE))


def _owners(living: NDArray[np.int8]) -> NDArray[np.int8]:
    owner = living.copy()
    for region in find_regions(living):
        if region.colour == EMPTY and len(region.borders) == 1:
            for cell in region.cells:
                owner[cell] = next(iter(region.borders))
    return owner


def _areas(owner: NDArray[np.int8]) -> list[Region]:
    """Returns the connected areas that a player owns."""
    return [region for region in find_regions(owner) if region.colour != NEUTRAL]


def _stones_in_atari(living: NDArray[np.int8]) -> set[Cell]:
    """Returns the stones of all chains with a single liberty."""
    found: set[Cell] = set()
    for chain in find_regions(living):
        if chain.colour != EMPTY:
            near = {cell for stone in chain.cells for cell in neighbours(stone, living.shape)}
            if sum(living[cell] == EMPTY for cell in near) == 1:
                found.update(chain.cells)
    return found


def _is_independent(area: Region, in_atari: set[Cell]) -> bool:
    """Whether an area lives by itself: it touches no neutral point and none of its stones is in atari.

    These are the independent-life-regions of KataGo's rules (its docs/rules.html): under area scoring a neutral point
    is worth a point, so a player who leaves one unfilled means it to be a seki.
    """
    return NEUTRAL not in area.borders and in_atari.isdisjoint(area.cells)


def _is_seki(area: Region, living: NDArray[np.int8]) -> bool:
    """Whether an area touches a neutral point and has no two eyes.

    By the letter of the rules every area that touches a neutral point is in seki. But under territory scoring games are
    counted before the last neutral points are filled, and then the whole board would be one seki.
    """
    if NEUTRAL not in area.borders:
        return False
    inside = np.full(living.shape, WHITE, np.int8)
    for cell in area.cells:
        inside[cell] = BLACK if living[cell] == EMPTY else WHITE
    eyes = [len(eye.cells) for eye in find_regions(inside) if eye.colour == BLACK]
    return len(eyes) < 2 and max(eyes, default=0) < _DIVISIBLE_EYE
