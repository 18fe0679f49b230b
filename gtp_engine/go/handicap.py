"""Star points, and handicap stones: the fixed points of GTP version 2 (section 4.1.1), and free placement."""

from ..base.errors import UserError
from .coords import all_points, distance, point_at, xy

# The smallest board with 4-4 points, and the smallest with any fixed points (3-3).
FOURTH_LINE_FROM, FIXED_FROM = 13, 7
HANDICAP_KOMI = 0.5  # with handicap stones it only excludes draws
# Free placement: a gap of more than four steps gains nothing; the first line is used only when all else is full.
WIDEST_GAP, FIRST_LINE = 4, -100


def star_points(width: int, height: int) -> frozenset[int]:
    """Returns the star points of a board: none on tiny boards, nine on 19x19."""
    points = {point_at(x, y, width) for x in _star_lines(width) for y in _star_lines(height)}
    if width % 2 and height % 2 and min(width, height) >= 5:
        points.add(point_at(width // 2, height // 2, width))
    return frozenset(points)


def _star_lines(length: int) -> tuple[int, ...]:
    if length < FIXED_FROM:
        return ()
    line = 3 if length >= FOURTH_LINE_FROM else 2
    middle = (length // 2,) if length % 2 and length >= 15 else ()
    return (line, length - 1 - line, *middle)


def fixed_handicap_points(count: int, width: int, height: int) -> list[int]:
    """Returns the points of `count` handicap stones, in GTP's order.

    On rectangular boards each edge has the handicap line of its own length.

    Raises:
        UserError: "invalid number of stones ...", unless it is 2 to 9; at most 4 if a side is even or 7, and no number
            if a side is below 7.
    """
    most = most_fixed_stones(width, height)
    if not 2 <= count <= most:
        accepted = f"2 to {most}" if most else "none"
        raise UserError(f"invalid number of stones: {count} (on {width}x{height}: {accepted})")
    left, top = _handicap_line(width), _handicap_line(height)
    right, bottom = width - 1 - left, height - 1 - top
    middle, centre = width // 2, height // 2
    corners = [(left, bottom), (right, top), (left, top), (right, bottom)]
    sides = [(left, centre), (right, centre), (middle, bottom), (middle, top)]
    chosen = corners[:count] if count < 6 else corners + sides[: (count - 4) // 2 * 2]
    if count in (5, 7, 9):
        chosen.append((middle, centre))
    return [point_at(x, y, width) for x, y in chosen]


def most_fixed_stones(width: int, height: int) -> int:
    """Returns the largest number of stones that `fixed_handicap_points` accepts on this board, or 0."""
    if min(width, height) < FIXED_FROM:
        return 0
    return 9 if all(side % 2 and side > FIXED_FROM for side in (width, height)) else 4


def free_handicap_points(count: int, width: int, height: int) -> list[int]:
    """Returns exactly `count` points for a free handicap.

    They are the fixed ones while there are any, then points on good lines in wide gaps, the first line last.

    Raises:
        UserError: "invalid number of stones ...", unless there are at least 2 and one point is left empty.
    """
    most = width * height - 1
    if not 2 <= count <= most:
        raise UserError(f"invalid number of stones: {count} (on {width}x{height}: 2 to {most})")
    fixed = min(count, most_fixed_stones(width, height))
    chosen = fixed_handicap_points(fixed, width, height) if fixed else []
    line_values = {point: _line_value(point, width, height) for point in all_points(width, height)}
    gaps = dict.fromkeys(line_values, WIDEST_GAP)
    for stone in chosen:
        _narrow(gaps, stone, width)
    while len(chosen) < count:
        # Three times the gap, so that a stone leaves its best line only for a clearly wider gap.
        stone = max(gaps, key=lambda point: 3 * gaps[point] + line_values[point])
        _narrow(gaps, stone, width)
        chosen.append(stone)
    return chosen


def _narrow(gaps: dict[int, int], stone: int, width: int) -> None:
    """Updates `gaps`, the steps along the lines from each empty point to the nearest stone, for a new stone."""
    del gaps[stone]
    for point, gap in gaps.items():
        gaps[point] = min(gap, distance(stone, point, width))


def _handicap_line(side: int) -> int:
    """Returns a side's handicap line, from 0: the fourth on large boards, the third on small, lower on tiny."""
    if side >= FOURTH_LINE_FROM:
        return 3
    return 2 if side >= FIXED_FROM else max(0, side // 2 - 1)


def _line_value(point: int, width: int, height: int) -> int:
    """Rates a point: 0 where two handicap lines cross, -1 per line above them, -2 per line below, first line last."""
    value = 0
    for at, side in zip(xy(point, width), (width, height), strict=True):
        line = min(at, side - 1 - at)
        above = line - _handicap_line(side)
        value += FIRST_LINE if line == 0 else min(-above, 2 * above)
    return value
