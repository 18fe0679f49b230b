"""The information about a game in the root: which properties have which fields of a record."""

from typing import TYPE_CHECKING

from .values import Properties, escaped, komi_text, number_text

if TYPE_CHECKING:
    from .record import GameRecord

# SGF property -> field of GameRecord.
TEXT_FIELDS = {
    "PB": "black",
    "PW": "white",
    "BR": "black_rank",
    "WR": "white_rank",
    "RE": "result",
    "RU": "rules",
    "DT": "date",
    "OT": "overtime",
    "AP": "application",
}
# Further texts about the game (FF[4], "Game info properties"); GC may have several lines.
OTHER_TEXTS = ("AN", "BT", "CP", "EV", "GC", "GN", "ON", "PC", "RO", "SO", "US", "WT")
# Properties for which a record has a field with a number; one that cannot be read is kept as a text.
NUMBERS = ("KM", "HA", "TM")
# The names in `GameRecord.texts`.
TEXT_NAMES = (*OTHER_TEXTS, *NUMBERS)
# The properties that `info_of` sets anew or not at all; further texts stay as they are.
INFO_NAMES = frozenset({*TEXT_FIELDS, *NUMBERS})


def info_of(record: "GameRecord") -> Properties:
    """Returns the information about the game as raw properties of the root."""
    texts = {name: getattr(record, attribute) for name, attribute in TEXT_FIELDS.items()}
    texts |= record.texts
    if record.komi is not None:
        texts["KM"] = komi_text(record.komi)
    if record.time_limit is not None:
        texts["TM"] = number_text(record.time_limit)
    if record.handicap:
        texts["HA"] = str(record.handicap)
    return {name: [escaped(text)] for name, text in texts.items() if text}
