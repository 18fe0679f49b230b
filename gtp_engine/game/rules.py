"""Rulesets: the parts a ruleset is made of, the names that stand for them, KataGo's JSON form of both; usual komi."""

import json
from dataclasses import dataclass, replace

# The parts with a fixed set of values. Names and values are KataGo's (`kata-get-rules`).
PART_VALUES = {
    "ko": ("SIMPLE", "POSITIONAL", "SITUATIONAL"),
    "scoring": ("AREA", "TERRITORY"),
    "tax": ("NONE", "SEKI", "ALL"),
    "whiteHandicapBonus": ("0", "N", "N-1"),
}
# KataGo's name of each part -> the field that holds it; `score` is its older name of `scoring`.
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
TRUE_WORDS = ("true", "t", "yes", "1")
FALSE_WORDS = ("false", "f", "no", "0")


@dataclass(frozen=True)
class Rules:
    """One ruleset by its parts; komi is not one of them.

    ko: SIMPLE forbids retaking at once, POSITIONAL also any earlier position, SITUATIONAL any earlier position with the
        same player to move.
    scoring: AREA or TERRITORY.
    tax: NONE, SEKI (no points for territory in seki) or ALL (two points less for each living group as well).
    suicide: whether a move may take several own stones off the board; suicide of a single stone is never legal.
    has_button: the first pass is worth half a point and does not count towards the end of the game (area scoring).
    white_handicap_bonus: points for White under N handicap stones, 0, N or N-1.
    friendly_pass_ok: an opponent's pass may be answered by a pass although dead stones still stand.

    Raises ValueError where a value is not one of those listed.
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
                raise ValueError(f"unknown {part} rule: {value!r} (accepted: {', '.join(accepted)})")

    @property
    def stones_stand(self) -> bool:
        """Whether the final count takes all stones for alive, so that dead ones have to be captured first."""
        return self.scoring == "AREA" and not self.friendly_pass_ok

    def to_json(self) -> str:
        """One line of JSON in the form and key order of KataGo's `kata-get-rules`."""
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
    "ing": Rules(friendly_pass_ok=True),
}
# Other names in use (KataGo's own aliases; SGF's RU property writes GOE and NZ), spelt as `_key` leaves them.
ALIASES = {"ancientarea": "stone-scoring", "french": "aga", "goe": "ing", "nz": "new-zealand"}


def _key(name: str) -> str:
    """A ruleset's name without case, blanks and hyphens, so that `new_zealand` and `New Zealand` are one."""
    return "".join(letter for letter in name.lower() if letter not in " _-")


NAMES_BY_KEY = {**{_key(name): name for name in RULESETS}, **ALIASES}


def parse_rules(text: str) -> Rules:
    """The rules named by `text`: a ruleset's name in any case, or KataGo's JSON object.

    Parts missing from the JSON are Tromp-Taylor's, the tax NONE under area and SEKI under territory scoring. Raises
    ValueError naming what is not understood and what is accepted.
    """
    if text.strip().startswith("{"):
        return _parse_json(text)
    name = NAMES_BY_KEY.get(_key(text))
    if name is None:
        raise ValueError(f"unknown rules: {text.strip()[:60]!r} (accepted: {', '.join(RULESETS)}, or a JSON object)")
    return RULESETS[name]


def _parse_json(text: str) -> Rules:
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"rules are not valid JSON: {text.strip()[:60]!r}") from None
    rules = RULESETS["tromp-taylor"]
    for key, value in parts.items():
        rules = with_part(rules, key, value)
    if "tax" not in parts and rules.scoring == "TERRITORY":
        rules = replace(rules, tax="SEKI")
    return rules


def with_part(rules: Rules, key: str, value: str | bool) -> Rules:
    """`rules` with one part changed, named as in KataGo's JSON (`kata-set-rule`); words are taken in any case.

    Raises ValueError for an unknown part or value.
    """
    field = PART_FIELDS.get(key.strip())
    if field is None:
        accepted = ", ".join(part for part in PART_FIELDS if part != "score")
        raise ValueError(f"unknown part of the rules: {key.strip()!r} (accepted: {accepted})")
    parts = vars(rules).copy()
    if isinstance(parts[field], bool):
        parts[field] = _parse_flag(key, value)
    else:
        parts[field] = value.strip().upper() if isinstance(value, str) else value
    return Rules(**parts)


def _parse_flag(key: str, value: str | bool) -> bool:
    word = str(value).strip().lower()
    if word not in TRUE_WORDS + FALSE_WORDS:
        raise ValueError(f"unknown value of {key.strip()}: {value!r} (accepted: true, false)")
    return word in TRUE_WORDS


def default_komi(width: int, height: int) -> float:
    """The komi of a board for which none was given: 7.5, up to 9x9 7."""
    return SMALL_BOARD_KOMI if max(width, height) <= SMALL_BOARD else DEFAULT_KOMI


def rules_name(rules: Rules) -> str | None:
    """The first ruleset in `RULESETS` that equals `rules`, None where none does."""
    return next((name for name, ruleset in RULESETS.items() if ruleset == rules), None)
