"""The result of a record: as SGF writes it, or in the words of a server."""

import re
from dataclasses import dataclass

from ..coords import BLACK, WHITE, colour_letter, opponent
from .amounts import plain_words, points_in_words
from .values import number_text

_POINTS = re.compile(r"[0-9]{1,4}(\.[0-9]{1,3})?")  # more than any board has, so that no number is too large
_SGF_FORM = re.compile(r"(B|W|BLACK|WHITE)(?:\+([A-Z]*|[0-9.]+))?")  # people write "black + 3,5" too
# SGF writes "B+Resign", "B+R" and so on; servers have longer words too.
_REASONS = {"R": "resignation", "T": "time", "F": "forfeit"}
_NOBODY = {"0": "draw", "draw": "draw", "jigo": "draw", "void": "void"}
_NOBODY |= dict.fromkeys(("和棋", "和局", "持碁", "持棋", "ジゴ", "무승부", "빅"), "draw") | {"没有结果": "void"}
# 白胜2又3/4子, 黒中押し勝ち, 흑 불계승, White wins by 3.5 points: who, and before or after the verb how.
# In "Black resigns. W 33.5 B 31.0", which NNGS has, the verb itself says how.
# Cyberoro and the Nihon Ki-in begin with the number of moves: 226수 백불계승, 150手完, 黒中押し勝ち.
_PLAYERS = {"black": BLACK, "黑": BLACK, "黒": BLACK, "흑": BLACK, "white": WHITE, "白": WHITE, "백": WHITE}
_PLAYER = "|".join(_PLAYERS)
_WORDS = re.compile(  # with the other player before the verb they do not say whose it is
    rf"(?:\d{{1,4}}[수手](?:(?!{_PLAYER}).)*)?(?P<player>{_PLAYER})(?P<before>(?:(?!{_PLAYER}).)*?)"
    r"(?:(?P<wins>wins?|won|胜|勝|승)|loses?|lost|负|負|敗|败|패|(?P<reason>resign|forfeit))(?P<after>.*)",
    re.DOTALL,
)
_REASON_WORDS = {
    "resignation": re.compile("resign|中盘|中盤|中押|불계"),
    "time": re.compile("time|时间|時間|超时|超時|시간"),
    "forfeit": re.compile("forfeit|弃权|棄権|棄權|强退|기권|반칙|反则|反則"),
}


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
    found = _SGF_FORM.fullmatch("".join(text.split()).upper().replace(",", "."))
    if found is None:
        return _in_words(text)
    winner, how = BLACK if found[1][0] == "B" else WHITE, found[2] or ""
    if _POINTS.fullmatch(how):
        return GameResult(winner, "points", how)
    by = _REASONS.get(how[:1]) if how else ""
    return None if by is None else GameResult(winner, by)


def _in_words(text: str) -> GameResult | None:
    found = _WORDS.match(plain_words(text))
    if found is None:
        return None
    player = _PLAYERS[found["player"]]
    winner = player if found["wins"] else opponent(player)
    how = "|".join(filter(None, found.group("before", "reason", "after")))
    for by, words in _REASON_WORDS.items():
        if words.search(how):
            return GameResult(winner, by)
    points = points_in_words(how)
    return GameResult(winner, "") if points is None else GameResult(winner, "points", number_text(points))


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
