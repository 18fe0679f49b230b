"""What servers write in the root of a game instead of SGF's own properties, read as if it were these.

Sina and the Nihon Ki-in write komi, date and handicap stones under names of their own. Fox writes the komi in
hundredths of a point, or of a zi, in which 375 are 7.5 points (`values.read_komi`); only there is 50 half a point.
"""

import re

from .values import Properties, read_number, read_text

# SGF has KO for moves, without a value.
_OWN_NAMES = {"KO": "KM", "HD": "HA", "RD": "DT"}
_NUMBERS = ("KM", "HA")
_FOX = b"foxwq"
_HUNDREDTHS = re.compile(r"([-+]?)([0-9]*)(00|25|50|75)")


def in_sgf(root: Properties) -> Properties:
    """Returns the properties of a root with SGF's names and units."""
    found = dict(root)
    for own, name in _OWN_NAMES.items():
        text = read_text(found, own).strip()
        is_value = read_number(text) is not None if name in _NUMBERS else bool(text)
        if is_value and not read_text(found, name).strip():
            found[name] = found.pop(own)
    is_of_fox = any(_FOX in value for value in found.get("AP", ()))
    if is_of_fox and (hundredths := _HUNDREDTHS.fullmatch(read_text(found, "KM").strip())):
        found["KM"] = [f"{hundredths[1]}{hundredths[2] or 0}.{hundredths[3]}".encode()]
    return found
