"""Where the points lie: moves in settled places, passes, and regions that change owners."""

from collections.abc import Iterator

import numpy as np

from ...game.coords import PASS
from ...game.regions import find_regions, neighbours
from .facts import Filled, FilledKind, PassedTooEarly, RegionChanged
from .variation import Study, cell_of, distance, points_at

# Ownership (-1 to 1) from which a point and its neighbours count as settled, and below which a point is nobody's.
SETTLED, NEUTRAL = 0.9, 0.15
# Points that the better move gains in a region, or that a pass costs.
LEAST_GAIN = 2.0
# The least change of each point of a region (ownership, -1 to 1), and of their sum as a share of the loss.
LEAST_POINT_CHANGE, LEAST_GAIN_SHARE = 0.1, 0.4
# Steps from a move from which a region is elsewhere. One that is far from both moves says more about the search than
# about them.
_FAR = 5


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
    if (kind := _kind(better, played)) is not None:
        yield Filled(study.played.line[:1], frozenset((study.move,)), kind)


def _kind(better: np.ndarray, played: np.ndarray) -> FilledKind | None:
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
