"""Rulesets: their parts, their names, KataGo's JSON form of both, and the usual komi."""

import json
from dataclasses import dataclass, replace

from ..base.errors import UserError
from ..base.fields import FALSE_WORDS, TRUE_WORDS, Range, invalid
from ..base.languages.texts import Phrase, texts
from ..base.nesting import parse_json

# The parts with a fixed set of values. Names and values are KataGo's (`kata-get-rules`); a board holds their indices.
PART_VALUES = {
    "ko": ("SIMPLE", "POSITIONAL", "SITUATIONAL"),
    "scoring": ("AREA", "TERRITORY"),
    "tax": ("NONE", "SEKI", "ALL"),
    "whiteHandicapBonus": ("0", "N", "N-1"),
}
# KataGo's name of each part -> the field that holds it; `score` is an older name for `scoring`.
PART_FIELDS = {
    "friendlyPassOk": "friendly_pass_ok",
    "hasButton": "has_button",
    "ko": "ko",
    "score": "scoring",
    "scoring": "scoring",
    "suicide": "suicide",
    "tax": "tax",
    "whiteHandicapBonus": "white_handicap_bonus",
}
# The fair komi under area scoring is 7 on 9x9; on larger boards servers and KataGo play with half a point more.
DEFAULT_KOMI, SMALL_BOARD_KOMI, SMALL_BOARD = 7.5, 7.0, 9
# Options and records accept komi up to this: more than the largest board has points. GTP demands that any is accepted.
LARGEST_KOMI = 1000.0


@dataclass(frozen=True)
class Rules:
    """One ruleset by its parts; komi is not one of them.

    Attributes:
        ko: SIMPLE forbids retaking at once, POSITIONAL also any earlier position, SITUATIONAL any earlier position with
            the same player to move.
        scoring: AREA or TERRITORY.
        tax: NONE, SEKI (no points for territory in seki) or ALL (also two points less for each living group).
        suicide: Whether a move may take several own stones off the board; suicide of a single stone is never legal.
        has_button: The first pass is worth half a point and does not count towards the end of the game (area scoring).
        white_handicap_bonus: White's points for N handicap stones: 0, N or N-1.
        friendly_pass_ok: An opponent's pass may be answered by a pass although there are dead stones on the board.

    Raises:
        UserError: A value is not one of those listed.
    """

    ko: str = "POSITIONAL"
    scoring: str = "AREA"
    tax: str = "NONE"
    suicide: bool = True
    has_button: bool = False
    white_handicap_bonus: str = "0"
    friendly_pass_ok: bool = False

    def __post_init__(self) -> None:
        for part, accepted in PART_VALUES.items():
            value = getattr(self, PART_FIELDS[part])
            if value not in accepted:
                raise UserError(f"unknown {part} rule: {value!r} (accepted: {', '.join(map(repr, accepted))})")

    @property
    def stones_stand(self) -> bool:
        """Whether the final count treats all stones as alive, so that dead ones have to be captured first."""
        return self.scoring == "AREA" and not self.friendly_pass_ok

    def to_json(self) -> str:
        """Returns one line of JSON in the form and key order of KataGo's `kata-get-rules`."""
        parts = {part: getattr(self, field) for part, field in PART_FIELDS.items() if part != "score"}
        return json.dumps(parts, separators=(",", ":"))


CHINESE = Rules("SIMPLE", "AREA", "NONE", suicide=False, white_handicap_bonus="N", friendly_pass_ok=True)
JAPANESE = Rules("SIMPLE", "TERRITORY", "SEKI", suicide=False)
AGA = Rules("SITUATIONAL", "AREA", "NONE", suicide=False, white_handicap_bonus="N-1", friendly_pass_ok=True)

RULESETS: dict[str, Rules] = {
    "tromp-taylor": Rules(),
    "chinese": CHINESE,
    "chinese-ogs": replace(CHINESE, ko="POSITIONAL"),
    "chinese-kgs": replace(CHINESE, ko="POSITIONAL"),
    "japanese": JAPANESE,
    "korean": JAPANESE,
    "aga": AGA,
    "bga": AGA,
    "aga-button": replace(AGA, has_button=True),
    "new-zealand": Rules("SITUATIONAL", friendly_pass_ok=True),
    "stone-scoring": Rules("SIMPLE", "AREA", "ALL", suicide=False, friendly_pass_ok=True),
    "ancient-territory": Rules("SIMPLE", "TERRITORY", "ALL", suicide=False),
    "ing": Rules(friendly_pass_ok=True),
}
# Other names in use (KataGo's own aliases; SGF's RU property writes GOE and NZ), spelt as `_key` leaves them.
ALIASES = {"ancientarea": "stone-scoring", "french": "aga", "goe": "ing", "nz": "new-zealand"}


def _key(name: str) -> str:
    """Normalises a ruleset's name, so that `new_zealand` and `New Zealand` are equal."""
    return "".join(letter for letter in name.lower() if letter not in " _-")


NAMES_BY_KEY = {**{_key(name): name for name in RULESETS}, **ALIASES}


def parse_rules(text: str) -> Rules:
    """Parses a ruleset's name, in upper or lower case, or KataGo's JSON object.

    Parts missing from the JSON are Tromp-Taylor's, and a missing tax is NONE under area and SEKI under territory
    scoring.

    Raises:
        UserError: The text is not understood; the message names the accepted values.
    """
    if not isinstance(text, str):
        raise invalid("rules", text, "the name of a ruleset, or Rules")
    if text.strip().startswith("{"):
        return _parse_json(text)
    name = NAMES_BY_KEY.get(_key(text))
    if name is None:
        raise UserError(f"unknown rules: {text.strip()[:60]!r} (accepted: {', '.join(RULESETS)}, or a JSON object)")
    return RULESETS[name]


def as_rules(value: Rules | str) -> Rules:
    """Returns the rules that a caller gives as Rules or as a text for `parse_rules`; UserError if it is neither."""
    return value if isinstance(value, Rules) else parse_rules(value)


def _parse_json(text: str) -> Rules:
    try:
        parts = parse_json(text)
    except ValueError as error:
        raise UserError(f"rules are not valid JSON: {text.strip()[:60]!r} ({error})") from None
    rules = RULESETS["tromp-taylor"]
    for key, value in parts.items():
        rules = with_part(rules, key, value)
    if "tax" not in parts and rules.scoring == "TERRITORY":
        rules = replace(rules, tax="SEKI")
    return rules


def with_part(rules: Rules, key: str, value: str | bool) -> Rules:
    """Returns `rules` with one part changed; UserError if the part or the value is unknown.

    `key` is the part's name in KataGo's JSON (`kata-set-rule`); a word as its value may be in upper or lower case.
    """
    field = PART_FIELDS.get(key.strip())
    if field is None:
        accepted = ", ".join(part for part in PART_FIELDS if part != "score")
        raise UserError(f"unknown part of the rules: {key.strip()!r} (accepted: {accepted})")
    parts = vars(rules).copy()
    if isinstance(parts[field], bool):
        word = str(value).strip().lower()
        if word not in TRUE_WORDS + FALSE_WORDS:
            raise UserError(f"unknown value of {key.strip()}: {value!r} (accepted: true, false)")
        parts[field] = word in TRUE_WORDS
    else:
        parts[field] = value.strip().upper() if isinstance(value, str) else value
    return Rules(**parts)


def default_komi(width: int, height: int) -> float:
    """Returns the komi to use if none is given: 7 up to 9x9, and 7.5 on larger boards."""
    return SMALL_BOARD_KOMI if max(width, height) <= SMALL_BOARD else DEFAULT_KOMI


def check_komi(komi: float) -> None:
    """Raises UserError unless the komi is a finite number."""
    Range().parse("komi", komi, from_text=False)


def rules_name(rules: Rules) -> str | None:
    """Returns the name of the first ruleset in `RULESETS` that equals `rules`, or None."""
    return next((name for name, ruleset in RULESETS.items() if ruleset == rules), None)


def rules_phrase(rules: Rules | str) -> Phrase | str:
    """Returns the phrase that names rules, or that of "other" rules if they have no name.

    Rules may be given by the name of a ruleset. Any other text, such as rules in JSON, stays as it is.
    """
    if isinstance(rules, str) and rules not in RULESETS:
        return rules
    return Phrase(f"rules-{rules_name(as_rules(rules)) or 'other'}")


def terms_text(rules: Rules | str, komi: float) -> str:
    """Returns a game's rules and komi in words: "Chinese rules, komi 7.5"."""
    return texts()("game.rules", rules=rules_phrase(rules), komi=f"{komi:g}")
