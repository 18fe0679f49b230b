"""The facts about a mistake, as data, and how they are found; `ladders` finds those about ladders."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np

from ...go.coords import PASS, opponent
from ...go.regions import Chain, chain_at, chains_of, find_regions, neighbours
from ..mistakes import Unit
from .variation import Study, Variation, cell_of, distance, points_at

# How much more the captor owns the captured stones' points in the line that captures them, in ownership (-1 to 1):
# without it sacrifices and exchanges, which change nothing, would count as losses. Below it a stronger network refuted
# most captures of single stones.
LEAST_CAPTURE_CHANGE = 0.8
# Shares of ownership (0 to 1) from which a group counts as alive, and down to which as dead. These and the other
# thresholds of facts are chosen, not fitted; `benchmarks/reason_accuracy.py` measures what they let through.
ALIVE, DEAD = 0.8, 0.2
# A group that is neither is worth a sentence if its share changes by so much.
LEAST_SHARE_CHANGE = 0.3
# Of a group, and of each of two chains that are joined: lone stones are joined and given up all the time.
LEAST_STONES = 2
# Chains whose stones are no further apart belong to one group: a one-point jump or a diagonal move.
_NEAR = 2
# The owner of their points changes by so much (ownership, -1 to 1): chains that live anyway may be apart.
LEAST_CONNECTION_CHANGE = 0.2
# Ownership (-1 to 1) from which a point and its neighbours count as settled, and below which a point is nobody's.
SETTLED, NEUTRAL = 0.9, 0.15
# Points that the better move gains in a region, or that a pass costs.
LEAST_GAIN = 2.0
# The least change of each point of a region (ownership, -1 to 1), and of their sum as a share of the loss.
LEAST_POINT_CHANGE, LEAST_GAIN_SHARE = 0.1, 0.4
# Steps from a move from which a region is elsewhere. One that is far from both moves says more about the search than
# about them.
_FAR = 5
# The better move's threat is greater by so many points, and at least twice the other one's: a tempo alone is worth up
# to 14 points in the opening, for every move.
LEAST_THREAT_LEAD, LEAST_THREAT_RATIO = 6.0, 2.0


@dataclass(frozen=True)
class Fact:
    """What every fact has.

    Attributes:
        line: The points of the moves that show it, from the position before the mistake: it begins with the move
            played, or with the better one.
        points: The stones or the points that it is about; two facts about the same are told only once.
    """

    line: tuple[int, ...]
    points: frozenset[int]


@dataclass(frozen=True)
class Doubtful(Fact):
    """A loss that a longer search does not confirm; then nothing else is said about the mistake.

    Attributes:
        lost: What the move played costs by the longer search, in points or in win rate (0 to 1); below 0 if it is the
            better one.
        by: Which of the two: what the review measures mistakes in.
    """

    lost: float
    by: Unit


@dataclass(frozen=True)
class PassedTooEarly(Fact):
    """A pass while there were points to gain.

    Attributes:
        lost: The points that the pass cost.
    """

    lost: float


@dataclass(frozen=True)
class AtariMissed(Fact):
    """The player's stones are in atari, the move played leaves them there, and the opponent takes them next."""


class LadderKind(Enum):
    """What a ladder does. The value names the sentence."""

    CATCHES = "catches"  # the better move catches the opponent's stones
    CAUGHT = "caught"  # after the move played the opponent catches the player's stones
    ESCAPES = "escapes"  # the move played is an atari, and the ladder that it begins fails
    RUNS = "runs"  # the move played extends stones that the ladder catches all the same


@dataclass(frozen=True)
class Ladder(Fact):
    """A ladder that works or fails, read to its end.

    Attributes:
        kind: What it does.
        colour: The colour of the stones in it.
    """

    kind: LadderKind
    colour: int


@dataclass(frozen=True)
class GroupChanged(Fact):
    """A group whose life depends on the move.

    Attributes:
        colour: Its colour.
        better: How far its points belong to its colour after the better move, 0 to 1 (0.5 is nobody's).
        played: The same after the move played.
    """

    colour: int
    better: float
    played: float


@dataclass(frozen=True)
class Captured(Fact):
    """Stones that one line captures, and the other does not.

    Attributes:
        captor: The player who captures them.
        number: The number of the move of the line that captures the last of them, from 1.
        is_played: Whether it is the line of the move played.
    """

    captor: int
    number: int
    is_played: bool


@dataclass(frozen=True)
class Connected(Fact):
    """Two chains that the better line joins, and that the line of the move played leaves apart; or the reverse.

    Attributes:
        colour: The colour of the chains: the player's are cut by the mistake, the opponent's are connected by it.
        first: The stones of one chain.
        second: The stones of the other.
    """

    colour: int
    first: frozenset[int]
    second: frozenset[int]


class FilledKind(Enum):
    """Whose point the move played fills. The value names the sentence."""

    OWN = "own"
    OTHERS = "others"
    DAME = "dame"


@dataclass(frozen=True)
class Filled(Fact):
    """A move at a point that is settled already.

    Attributes:
        kind: Whose point it is.
    """

    kind: FilledKind


@dataclass(frozen=True)
class RegionChanged(Fact):
    """A part of the board whose points change owners.

    Attributes:
        gain: The points that the player has more there after the better move than after the move played.
        side: Where it is, as (row, column) of nine parts of the board, each 0 to 2 from the top left.
        is_elsewhere: Whether it is far from the move played.
    """

    gain: float
    side: tuple[int, int]
    is_elsewhere: bool


@dataclass(frozen=True)
class Sente(Fact):
    """The better move has to be answered, the move played has not.

    Attributes:
        better: The points that the player gains if the opponent passes after the better move.
        played: The same for the move played.
    """

    better: float
    played: float


# The finders.


def find_captures(study: Study) -> Iterator[Captured]:
    """Yields the opponent's stones that only the better line takes, and the player's that only the other takes."""
    taken = _captured(study.better, opponent(study.colour)), _captured(study.played, opponent(study.colour))
    yield from _difference(study, *taken, is_played=False)
    lost = _captured(study.played, study.colour), _captured(study.better, study.colour)
    yield from _difference(study, *lost, is_played=True)


def _captured(variation: Variation, colour: int) -> dict[int, int]:
    """Returns the stones of a colour, of those on the board at first, that a line takes: the move's number by point."""
    found: dict[int, int] = {}
    before = variation.games[0]
    for number, points in enumerate(variation.removals(), start=1):
        for point in points:
            if before.stone_at(point) == colour:
                found.setdefault(point, number)
    return found


def _difference(study: Study, taken: dict[int, int], also: dict[int, int], *, is_played: bool) -> Iterator[Captured]:
    stones = frozenset(taken) - frozenset(also)
    if not stones or study.change(stones) < LEAST_CAPTURE_CHANGE:
        return
    captor = opponent(study.colour) if is_played else study.colour
    number = max(taken[point] for point in stones)
    variation = study.played if is_played else study.better
    yield Captured(variation.line[:number], stones, captor, number, is_played)


def find_missed_atari(study: Study) -> Iterator[AtariMissed]:
    """Yields the player's chains in atari that the opponent takes right after the move, but not after the better."""
    if len(study.played.line) < 2:
        return
    taken = study.played.removals()[1]
    saved = chains_of(study.better.games[1].board[0])
    for chain in chains_of(study.game.board[0]):
        if chain.colour != study.colour or len(chain.liberties) != 1 or not chain.stones <= taken:
            continue
        is_saved = any(chain.stones <= other.stones and len(other.liberties) > 1 for other in saved)
        if is_saved and study.change(chain.stones) >= LEAST_CAPTURE_CHANGE:
            yield AtariMissed(study.played.line[:2], chain.stones)


def find_groups(study: Study) -> Iterator[GroupChanged]:
    """Yields the groups, of both colours, that are better for the player after the better move."""
    changed = [
        chain
        for chain in chains_of(study.game.board[0])
        if study.change(chain.stones) / 2 >= LEAST_SHARE_CHANGE  # of the range from -1 to 1
    ]
    for group in _join(changed, study.game.width):
        stones = frozenset().union(*(chain.stones for chain in group))
        if len(stones) < LEAST_STONES:
            continue
        colour = group[0].colour
        sign = 1 if colour == study.colour else -1
        shares = [(1 + sign * variation.owned(stones)) / 2 for variation in (study.better, study.played)]
        line = study.played.line if colour == study.colour else study.better.line
        yield GroupChanged(line, stones, colour, *shares)


def _join(chains: list[Chain], width: int) -> list[list[Chain]]:
    """Returns the chains in groups of one colour, each near another one of its group."""
    groups: list[list[Chain]] = []
    for chain in chains:
        near = [group for group in groups if any(_is_near(chain, other, width) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([chain, *(other for group in near for other in group)])
    return groups


def _is_near(chain: Chain, other: Chain, width: int) -> bool:
    if chain.colour != other.colour:
        return False
    return any(distance(stone, near, width) <= _NEAR for stone in chain.stones for near in other.stones)


def find_connections(study: Study) -> Iterator[Connected]:
    """Yields the player's chains that the mistake lets the opponent cut, and the opponent's that it fails to cut."""
    yield from _joined(study, study.colour, study.better, study.played)
    yield from _joined(study, opponent(study.colour), study.played, study.better)


def _joined(study: Study, colour: int, joining: Variation, cutting: Variation) -> Iterator[Connected]:
    """Yields the chains of a colour that one line joins by a move at a point that the other colour takes otherwise."""
    chains = [chain for chain in chains_of(study.game.board[0]) if chain.colour == colour]
    chains = [chain for chain in chains if len(chain.stones) >= LEAST_STONES]
    found: set[int] = set()
    for first, second in combinations(chains, 2):
        number = _joining_move(first, second, joining)
        if number is None or not _is_cut(first, second, joining.line[number - 1], cutting, opponent(colour)):
            continue
        stones = first.stones | second.stones
        if not found & stones and study.change(stones) >= LEAST_CONNECTION_CHANGE:
            found |= stones
            line = study.played.line if colour == study.colour else study.better.line
            yield Connected(line, stones, colour, first.stones, second.stones)


def _joining_move(first: Chain, second: Chain, variation: Variation) -> int | None:
    """Returns the number of the move, from 1, that joins two chains; None if they are apart at the end of the line."""
    if not _are_one(first, second, variation, len(variation.line)):
        return None
    numbers = range(1, len(variation.line) + 1)
    return next(number for number in numbers if _are_one(first, second, variation, number))


def _are_one(first: Chain, second: Chain, variation: Variation, number: int) -> bool:
    chain = chain_at(variation.games[number].board[0], min(first.stones))
    return chain is not None and chain.stones >= first.stones | second.stones


def _is_cut(first: Chain, second: Chain, point: int, variation: Variation, cutter: int) -> bool:
    """Whether the cutter holds the joining point at the end of a line, and both chains are on the board, apart."""
    end = variation.end
    if point == PASS or end.stone_at(point) != cutter:
        return False
    parts = [chain_at(end.board[0], min(chain.stones)) for chain in (first, second)]
    return None not in parts and parts[0] != parts[1]


def find_early_pass(study: Study) -> Iterator[PassedTooEarly]:
    """Yields a pass that cost points."""
    if study.move == PASS and study.points_loss >= LEAST_GAIN:
        yield PassedTooEarly(study.better.line, frozenset(), study.points_loss)


def find_filled(study: Study) -> Iterator[Filled]:
    """Yields a move at a point that is settled, whether it is played or not."""
    if study.move == PASS:
        return
    cell = cell_of(study.move, study.game.width)
    around = [cell, *neighbours(cell, study.better.ownership.shape)]
    better, played = (np.array([line.ownership[near] for near in around]) for line in (study.better, study.played))
    if (kind := _filled_kind(better, played)) is not None:
        yield Filled(study.played.line[:1], frozenset((study.move,)), kind)


def _filled_kind(better: np.ndarray, played: np.ndarray) -> FilledKind | None:
    """Returns whose a point is, by the ownership of it (the first) and its neighbours after each of the two moves."""
    owners, after = (np.sign(owned) * (np.abs(owned) >= SETTLED) for owned in (better, played))  # 0 is not settled
    if np.all(owners == 1) and np.all(after == 1):
        return FilledKind.OWN
    if np.all(owners == -1) and np.all(after == -1):
        return FilledKind.OTHERS
    # After the move played its own stone is on the point, so only the better line shows that nobody owns it.
    if abs(better[0]) <= NEUTRAL and np.all(owners[1:]) and np.array_equal(owners[1:], after[1:]):
        return FilledKind.DAME
    return None


def find_regions_changed(study: Study) -> Iterator[RegionChanged]:
    """Yields the region in which the better move gains most, if that is a good part of the loss."""
    change = study.better.ownership - study.played.ownership
    regions = [region for region in find_regions((change >= LEAST_POINT_CHANGE).astype(np.int8)) if region.colour]
    sums = [sum(float(change[cell]) for cell in region.cells) for region in regions]
    if not sums or max(sums) < max(LEAST_GAIN, LEAST_GAIN_SHARE * study.points_loss):
        return
    region = regions[int(np.argmax(sums))]
    mask = np.zeros(change.shape, np.bool_)
    for cell in region.cells:
        mask[cell] = True
    points, width = points_at(mask), study.game.width
    steps = [
        _FAR if move == PASS else min(distance(move, point, width) for point in points)
        for move in (study.best, study.move)
    ]
    if min(steps) < _FAR:
        is_elsewhere = steps[0] < _FAR <= steps[1] and study.move != PASS
        yield RegionChanged(study.better.line, points, max(sums), _side(change, mask), is_elsewhere)


def _side(change: np.ndarray, mask: np.ndarray) -> tuple[int, int]:
    """Returns in which of nine parts of the board a region lies, by the mean of its cells weighted by their change."""
    cells = np.argwhere(mask)
    middle = np.average(cells, axis=0, weights=change[mask])
    row, column = (min(2, int(3 * (place + 0.5) / size)) for place, size in zip(middle, mask.shape, strict=True))
    return row, column


def find_sente(study: Study) -> Iterator[Sente]:
    """Yields that the better move has to be answered more urgently than the move played."""
    better, played = study.better.gain_if_ignored, study.played.gain_if_ignored
    if better is None or played is None:
        return
    if better >= played + LEAST_THREAT_LEAD and better >= LEAST_THREAT_RATIO * played:
        line = (study.best, PASS, *study.better.threat)
        yield Sente(line, frozenset((study.best,)), better, max(0.0, played))
