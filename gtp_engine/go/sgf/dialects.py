"""What servers write in the root of a game instead of SGF's own properties, read as if it were these.

Sina, Cyberoro and the Nihon Ki-in write komi, date, size and handicap under names of their own, and the Nihon Ki-in
writes the komi in words. Fox writes it in hundredths of a point, or of a zi, in which 375 are 7.5 points
(`values.read_komi`); only there is 50 half a point.
"""

import re
from collections.abc import Sequence

from ..coords import sgf_point
from ..handicap import fixed_handicap_points, most_fixed_stones
from .amounts import plain_words, points_in_words
from .values import Properties, komi_text, read_board_size, read_handicap, read_number, read_text

# SGF has KO for moves, without a value, and LN for lines between points.
_OWN_NAMES = {"KO": "KM", "HD": "HA", "RD": "DT", "LN": "SZ"}
_NUMBERS = ("KM", "HA", "SZ")
_FOX = b"foxwq"
# Words of a komi in words whose points may not be White's: of White, of a reverse komi, of handicap stones.
_WHOSE = re.compile("[白백逆倒역让讓]")
_HUNDREDTHS = re.compile(r"([-+]?)([0-9]*)(00|25|50|75)")


def in_sgf(sequence: Sequence[Properties]) -> Properties:
    """Returns the properties of a root with SGF's names and units, given the first nodes of the game."""
    root, first = sequence[0], sequence[1] if len(sequence) > 1 else {}
    found = dict(root)
    for name in ("KO", "KM"):  # 黒6目半: Black gives it
        text = read_text(found, name)
        if not _WHOSE.search(text) and (points := points_in_words(plain_words(text), with_unit=True)) is not None:
            found[name] = [komi_text(points).encode()]
    for own, name in _OWN_NAMES.items():
        text = read_text(found, own).strip()
        is_value = read_number(text) is not None if name in _NUMBERS else bool(text)
        if is_value and not read_text(found, name).strip():
            found[name] = found.pop(own)
    if "HD" in root and "HD" not in found and "W" in first and found.keys().isdisjoint(("AB", "AW")):
        found |= _handicap_stones(found)
    is_of_fox = any(_FOX in value for value in found.get("AP", ()))
    if is_of_fox and (hundredths := _HUNDREDTHS.fullmatch(read_text(found, "KM").strip())):
        found["KM"] = [f"{hundredths[1]}{hundredths[2] or 0}.{hundredths[3]}".encode()]
    return found


def _handicap_stones(root: Properties) -> Properties:
    """Returns AB for a number of stones alone: Cyberoro places them as GTP, but the third one at the bottom right."""
    width, height = read_board_size(read_text(root, "SZ"))
    count = read_handicap(read_text(root, "HA"))
    if not 2 <= count <= most_fixed_stones(width, height):
        return {}
    points = fixed_handicap_points(count, width, height)
    if count == 3:
        points[2] = fixed_handicap_points(4, width, height)[3]
    return {"AB": [sgf_point(point, width, height).encode() for point in points]}
