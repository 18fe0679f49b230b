"""The result of a record: as SGF writes it, or in the words of a server."""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from ..coords import BLACK, WHITE, colour_letter, opponent
from .values import number_text

_POINTS = re.compile(r"[0-9]{1,4}(\.[0-9]{1,3})?")  # more than any board has, so that no number is too large
# SGF writes "B+Resign", "B+R" and so on; servers have longer words too.
_REASONS = {"R": "resignation", "T": "time", "F": "forfeit"}
_NOBODY = {"0": "draw", "draw": "draw", "jigo": "draw", "void": "void"}
_NOBODY |= dict.fromkeys(("和棋", "和局", "持碁", "持棋", "ジゴ", "무승부", "빅"), "draw") | {"没有结果": "void"}
# 白胜2又3/4子, 黒中押し勝ち, 흑 불계승, White wins by 3.5 points: who, and before or after the verb how.
# In "Black resigns. W 33.5 B 31.0", which NNGS has, the verb itself says how.
# Cyberoro begins with the number of moves: 226수 백불계승.
_PLAYERS = {"black": BLACK, "黑": BLACK, "黒": BLACK, "흑": BLACK, "white": WHITE, "白": WHITE, "백": WHITE}
_PLAYER = "|".join(_PLAYERS)
_WORDS = re.compile(  # with the other player before the verb they do not say whose it is
    rf"(?:\d{{1,4}}수)?(?P<player>{_PLAYER})(?P<before>(?:(?!{_PLAYER}).)*?)"
    r"(?:(?P<wins>wins?|won|胜|勝|승)|loses?|lost|负|負|敗|败|패|(?P<reason>resign|forfeit))(?P<after>.*)",
    re.DOTALL,
)
_REASON_WORDS = {
    "resignation": re.compile("resign|中盘|中盤|中押|불계"),
    "time": re.compile("time|时间|時間|超时|超時|시간"),
    "forfeit": re.compile("forfeit|弃权|棄権|棄權|强退|기권|반칙|反则|反則"),
}
_FRACTIONS = {ord("¼"): "又1/4", ord("½"): "又1/2", ord("¾"): "又3/4"}
# 2又3/4子, 3目半, 3집반, 半目, 1.5: zi (子) are two points each. "4分之3" is 3/4, with its numbers the other way round.
_AMOUNT = re.compile(
    r"(?P<whole>\d{1,3}(?:\.\d{1,3})?(?![\d/分]))?(?:又|と)?(?:(?P<over>\d)/(?P<under>\d)|(?P<parts>\d)分之(?P<of>\d))?"
    r"(?P<unit>子|目|집)?(?P<half>半|반)?",
    re.ASCII,
)


@dataclass(frozen=True)
class GameResult:
    """A result."""

    winner: int | None  # the colour of the winner; None if nobody has won
    # "points", "resignation", "time", "forfeit", or "" if the record does not say how the winner won; without a winner
    # "draw" or "void".
    by: str
    points: str = ""  # the margin as the record writes it, such as "3.5"; "" if the game was not won by points


def read_result(text: str) -> GameResult | None:
    """Returns a result in SGF, such as "B+3.5", "W+R", "B+", "0" or "Void", or in words; None for any other text."""
    text = text.strip()
    if (nobody := _NOBODY.get(text.lower().rstrip("。"))) is not None:
        return GameResult(None, nobody)
    found = re.fullmatch(r"([BW])(?:\+([A-Za-z]*|[0-9.]+))?", text)
    if found is None:
        return _in_words(text)
    winner, how = BLACK if found[1] == "B" else WHITE, found[2] or ""
    if _POINTS.fullmatch(how):
        return GameResult(winner, "points", how)
    by = _REASONS.get(how[:1]) if how else ""
    return None if by is None else GameResult(winner, by)


def _in_words(text: str) -> GameResult | None:
    text = unicodedata.normalize("NFKC", text[:100].translate(_FRACTIONS)).lower()
    found = _WORDS.match("".join(_digit(letter) for letter in text if not letter.isspace()))
    if found is None:
        return None
    player = _PLAYERS[found["player"]]
    winner = player if found["wins"] else opponent(player)
    how = "|".join(filter(None, found.group("before", "reason", "after")))
    for by, words in _REASON_WORDS.items():
        if words.search(how):
            return GameResult(winner, by)
    points = next(filter(None, map(_points, _AMOUNT.finditer(how))), None)
    return GameResult(winner, "") if points is None else GameResult(winner, "points", number_text(float(points)))


def _digit(letter: str) -> str:
    """Returns the digit that a Chinese numeral up to nine means; other letters as they are."""
    value = unicodedata.numeric(letter, 0.0)
    return str(int(value)) if 0 < value < 10 and value.is_integer() else letter


def _points(amount: re.Match[str]) -> Fraction | None:
    """Returns a margin in points; None if the match names none."""
    whole, unit = amount["whole"], amount["unit"]
    over, under = (amount["over"], amount["under"]) if amount["over"] else (amount["of"], amount["parts"])
    if not whole and not over and not amount["half"]:
        return None
    if over and (unit != "子" or under == "0"):  # a fraction of what?
        return None
    count = Fraction(whole or 0) + (Fraction(int(over), int(under)) if over else 0) + Fraction(bool(amount["half"]), 2)
    return count * (2 if unit == "子" else 1)


def result_text(result: GameResult) -> str:
    """Returns a result as SGF writes it."""
    if result.winner is None:
        return "0" if result.by == "draw" else "Void"
    return f"{colour_letter(result.winner)}+{result.points or result.by[:1].upper()}"


def shown_result(text: str) -> str:
    """Returns a record's result for people: in SGF's form, but "draw" or "void" if nobody has won."""
    found = read_result(text)
    if found is None:
        return text
    return found.by if found.winner is None else result_text(found)
