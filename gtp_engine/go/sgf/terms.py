"""The rules and the komi by which a record is judged: the only place that decides and tells what it leaves open."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...base.languages.texts import Phrase, Value
from ...base.messages import printable
from ..handicap import HANDICAP_KOMI
from ..rules import RULESETS, Rules, as_rules, default_komi, rules_phrase
from .results import read_result
from .values import number_text, read_points

if TYPE_CHECKING:
    from .record import GameRecord

_SHOWN = 40  # characters of what is not understood


@dataclass(frozen=True)
class Terms:
    """The rules and the komi of a record.

    Attributes:
        rules: The rules.
        komi: The komi.
        notices: What was repaired in the file, and what was assumed because the record does not say it, or not in a way
            that is understood. Of a problem neither rules nor komi are missed.
    """

    rules: Rules
    komi: float
    notices: tuple[Phrase, ...]


def terms_of(
    record: "GameRecord",
    rules: Rules | str | None = None,
    komi: float | None = None,
    *,
    usual_rules: Rules = RULESETS["chinese"],
    usual_komi: float = 0.0,
) -> Terms:
    """Returns the rules and the komi of a record.

    Args:
        record: The record.
        rules: Rules instead of the record's, unless they are None.
        komi: Komi instead of the record's, unless it is None.
        usual_rules: The rules if the record names none that are known.
        usual_komi: The komi if the record has none. One that is empty, no number, or 0 although it was won by half
            a point more than a whole number (Fox writes so), is the usual one by the rules.

    Raises:
        UserError: `rules` are unknown.
    """
    assumed: list[Phrase] = []
    used = record.game_rules() if rules is None else as_rules(rules)
    if used is None:
        used = usual_rules
        named = ("record.noRules", "record.unknownRules")
        assumed.append(_assumed(named, record.rules, rules=rules_phrase(used)))
    if komi is None:
        is_wrong = record.komi == 0 and _has_half_points(record.result)
        komi = None if is_wrong else record.komi
    if komi is None:
        komi = usual_komi
        if "KM" in record.root.properties:
            komi = default_komi(record.width, record.height) - (used.scoring == "TERRITORY")
            komi = komi if record.handicap < 2 else HANDICAP_KOMI
        names = ("record.noKomi", "record.wrongKomi" if is_wrong else "record.unknownKomi")
        text = record.result if is_wrong else record.root.text("KM")
        assumed.append(_assumed(names, text, komi=number_text(komi)))
    return Terms(used, komi, (*record.repairs, *([] if record.is_problem else assumed)))


def _has_half_points(result: str) -> bool:
    """Whether a game was won by a number of points with a half, which only komi gives."""
    found = read_result(result)
    margin = read_points(found.points) if found else None
    return margin is not None and 2 * margin % 2 == 1


def _assumed(names: tuple[str, str], text: str, **value: Value) -> Phrase:
    """Returns the first phrase without a text, and else the second one with it."""
    text = printable(text.strip())[:_SHOWN]
    return Phrase(names[1], {"text": text, **value}) if text else Phrase(names[0], value)
