"""Reads the values of single SGF properties, more leniently than FF[4] if real files need it, and writes them.

A node's properties are sgfmill's: lists of raw values, in UTF-8, by name. Points are for a board of width x height.
"""

import functools
import math
import re
from collections.abc import Sequence

from sgfmill import sgf_grammar

from ...base.errors import UserError
from ...base.fields import parse_board_size
from ...base.languages.texts import Phrase, Value, texts
from ..coords import BLACK, PASS, WHITE, parse_colour, parse_sgf_point, point_at, vertex, xy
from ..game import Move
from ..rules import LARGEST_KOMI, RULESETS, Rules, parse_rules, rules_name

# The largest board that SGF's letters can name.
LARGEST_SIZE = 52
# Times that one property may name the whole board in rectangles, which FF[4] forbids to overlap at all.
MOST_REPEATS = 8
# SGF's own names of rulesets (FF[4], RU) that differ from ours.
_SGF_RULES = {"chinese": "Chinese", "japanese": "Japanese", "aga": "AGA", "new-zealand": "NZ", "ing": "GOE"}
# How texts in RU begin, in the languages of servers and editors ("Japanese rules", "Chinese, 3.75 zi"). Up to three
# Latin letters have to be a word of their own, those below the whole text.
_RULES_BY_START = {
    "japanese": ("jp", "jpn", "jap", "japa", "japo", "giap", "яп", "日", "일본"),
    "chinese": ("cn", "chn", "chin", "cine", "кит", "中", "중국"),
    "korean": ("kr", "kor", "kore", "corea", "coree", "coré", "кор", "韩", "韓", "한국"),
    "aga": ("aga", "amer", "амер", "fr", "fren", "franc", "franç", "franz", "frans", "фр"),
    "bga": ("bga", "british"),
    "ing": ("ing", "goe", "инг", "应", "應", "응"),
    "new-zealand": ("nz", "new zealand", "neuseel", "nouvelle z", "nouvelle-z", "nueva z", "новозел"),
    "tromp-taylor": ("tromp", "tt"),
}
_SHORTEST_RULES = {"j": "japanese", "ja": "japanese", "c": "chinese", "ch": "chinese", "k": "korean", "ko": "korean"}
# KataGo's text, as in koPOSITIONALscoreAREAtaxNONEsui1.
_KATAGO_RULES = re.compile(
    r"ko(SIMPLE|POSITIONAL|SITUATIONAL)score(AREA|TERRITORY)(?:tax(NONE|SEKI|ALL))?sui([01])"
    r"(?:button([01]))?(?:whb(0|N-1|N))?(?:fpok([01]))?"
)
# What Chinese servers write for 7.5 points: 3.75, which are zi, or 375, hundredths of them, which CGoban saves as
# 375.00. In our own files a komi of 3.75 or 375 points and a margin of 3.75 points have one more digit: 3.750, 375.0.
_ZI = re.compile(r"[-+]?[0-9]*[.,](25|75)")
_HUNDREDTHS = re.compile(r"([-+]?(?:[2-9]|[1-9][0-9]{1,3}))(00|25|50|75)(?:[.,]00+)?")

Properties = dict[str, list[bytes]]


def read_move(name: str, values: list[bytes], width: int, height: int) -> Move:
    """Parses the values of B or W; UserError if they are not one move on this board."""
    if len(values) > 1:
        raise UserError(f"{name} has {len(values)} values, expected one move")
    return Move(BLACK if name == "B" else WHITE, parse_sgf_point(_plain(values[0]), width, height))


def read_stones(properties: Properties, name: str, width: int, height: int) -> tuple[int, ...]:
    """Parses AB, AW or AE, including rectangles ("aa:cc").

    Returns:
        The points, each once.

    Raises:
        UserError: A value is not a point or rectangle of this board, or they name its points again and again.
    """
    if name not in properties:
        return ()
    points: dict[int, None] = {}
    named = 0
    for value in map(_plain, properties[name]):
        first, _, last = value.partition(":")
        if value:
            rectangle = _rectangle(name, first, last or first, width, height)
            named += len(rectangle)
            if named > MOST_REPEATS * width * height:
                raise UserError(f"{name} names the points of the board more than {MOST_REPEATS} times")
            points.update(rectangle)
    return tuple(points)


@functools.lru_cache(maxsize=256)
def _rectangle(name: str, first: str, last: str, width: int, height: int) -> dict[int, None]:
    """Returns the points between two corners, as keys."""
    corners = [parse_sgf_point(text, width, height) for text in (first, last)]
    if PASS in corners:
        raise UserError(f"{name} names no point: {first!r}")
    (left, right), (top, bottom) = (
        sorted(ends) for ends in zip(*(xy(corner, width) for corner in corners), strict=True)
    )
    return dict.fromkeys(point_at(x, y, width) for y in range(top, bottom + 1) for x in range(left, right + 1))


def _plain(value: bytes) -> str:
    """Returns a value that is not text, without the spaces and line breaks that some programs write.

    It is cut to what an error message should quote: no valid value has more than five letters.
    """
    return value.decode("utf-8", "replace").strip()[:20]


def read_text(properties: Properties, name: str, *, lines: bool = False) -> str:
    """Returns the first value of a property as SimpleText, or all of them as Text if `lines`; "" if there is none.

    Several values of Text, which FF[4] does not allow, are joined with line breaks, so that nothing is lost.
    """
    values = properties.get(name, [])
    texts = map(sgf_grammar.text_value, values) if lines else map(sgf_grammar.simpletext_value, values[:1])
    return b"\n".join(filter(None, texts)).decode("utf-8", "replace")


def read_board_size(text: str) -> tuple[int, int]:
    """Parses SZ, "19" or "9:13", to width and height; 19x19 if it is empty. Raises UserError if it is not a size."""
    return parse_board_size(text.strip() or "19", 1, LARGEST_SIZE)


def read_komi(text: str) -> float | None:
    """Parses KM to points, or None if it is missing, not a number, or beyond LARGEST_KOMI.

    Chinese servers write hundredths (650) and zi (3.75, or 375, for 7.5); `komi_text` writes what is neither.
    """
    hundredths = _HUNDREDTHS.fullmatch(text.strip())
    points = read_points(f"{hundredths[1]}.{hundredths[2]}" if hundredths else text)
    return points if points is not None and abs(points) <= LARGEST_KOMI else None


def read_points(text: str) -> float | None:
    """Parses a number of points, or of zi, which are two points each; None for anything else.

    A number is one of zi if it ends in .25 or .75: 3.75 is 7.5 points, and 3.750 is 3.75 points.
    """
    count = read_number(text)
    return 2 * count if count is not None and _ZI.fullmatch(text.strip()) else count


def read_number(text: str) -> float | None:
    """Parses a number, with a decimal point or comma; None for anything else."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_handicap(text: str) -> int:
    """Parses HA; 0 if it is empty or not a number."""
    return int(text) if re.fullmatch(r"\s*\d{1,3}\s*", text, re.ASCII) else 0


def read_player(properties: Properties) -> int | None:
    """Parses PL to a colour; None if it is missing or invalid."""
    if "PL" not in properties:
        return None
    try:
        return parse_colour(read_text(properties, "PL"))
    except UserError:
        return None


def read_rules(text: str) -> Rules | None:
    """Parses RU; None if it is empty or unknown."""
    text = text.strip()
    if found := _KATAGO_RULES.fullmatch(text):
        ko, scoring, tax, suicide, button, bonus, friendly = found.groups()
        tax = tax or ("SEKI" if scoring == "TERRITORY" else "NONE")
        return Rules(ko, scoring, tax, suicide == "1", button == "1", bonus or "0", friendly == "1")
    try:
        return parse_rules(text)
    except UserError:
        if name := _SHORTEST_RULES.get(text.lower()):
            return RULESETS[name]
        word = re.split(r"[\W\d_]", text.lower())[0]
        for name, starts in _RULES_BY_START.items():
            longer = tuple(start for start in starts if len(start) > 3 or not start.isascii())
            if word in starts or text.lower().startswith(longer):
                return RULESETS[name]
        return None


def rules_text(rules: Rules) -> str:
    """Returns the text of RU: SGF's name of a ruleset, our own one if it has none, or else the parts of the rules."""
    name = rules_name(rules)
    return rules.to_json() if name is None else _SGF_RULES.get(name, name)


def number_text(value: float) -> str:
    """Returns the text of TM."""
    return repr(float(value)).removesuffix(".0")


def komi_text(komi: float) -> str:
    """Returns the text of KM, with a further digit if `read_komi` would take it for hundredths or zi: 200.0, 7.250."""
    text = number_text(komi)
    if _HUNDREDTHS.fullmatch(text) or text.lstrip("-") in ("25", "50", "75"):  # which Fox writes too
        return f"{text}.0"
    return f"{text}0" if _ZI.fullmatch(text) else text


def escaped(text: str) -> bytes:
    """Returns a text as the raw value of a property, in UTF-8."""
    raw: bytes = sgf_grammar.escape_text(text.encode("utf-8", "replace"))
    return raw


SGF_DATA = "SGF data"  # what messages call content that comes from no file


class SgfError(UserError):
    """A record that cannot be read or replayed; the message names the file and the reason."""


def error_at(place: Value, problem: UserError) -> SgfError:
    """Returns the error for what is wrong at a place: in the content of a name, or at a move.

    Pages say it in their own language, apart from the details of rare problems.
    """
    phrase = problem.phrase or Phrase("error.sgfDetail", {"detail": str(problem)})
    place = Phrase("error.sgfData") if place == SGF_DATA else place
    return SgfError(Phrase("error.at", {"place": place, "problem": phrase}))


def analysis_comment(
    to_move: int, winrate: float, lead: float, visits: int, line: Sequence[int], width: int, height: int
) -> str:
    """Formats the result of a search as a comment, from Black's side.

    `winrate`, 0 to 1, and `lead`, in points, are those of the player to move. `line` is the principal variation.
    """
    if to_move == WHITE:
        winrate, lead = 1 - winrate, -lead
    moves = " ".join(vertex(point, width, height) for point in line)
    text = f"Black's win rate: {100 * winrate:.1f}%\nLead: {texts().lead(lead)}\nVisits: {visits}"
    return f"{text}\nMain line: {moves}" if moves else text
