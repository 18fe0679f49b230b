"""Records in the formats of servers, written as SGF: .gib of Tygem, .ngf of Cyberoro and WBaduk, .ugf of PandaNet.

None of them is documented: what is read here was seen in files. It is the game itself: players, ranks, size, handicap,
komi, rules, date, result and moves. The commentaries and variations that may follow a game are left out.
"""

import re
from dataclasses import dataclass, field

from ...base.errors import UserError
from ..coords import point_at, sgf_point
from ..handicap import fixed_handicap_points
from .charsets import decode_game
from .results import read_result, result_text
from .values import escaped, number_text

SUFFIXES = (".gib", ".ngf", ".ugf", ".ugi")

_HEAD = 4096  # bytes, in which the header of each format ends, or its moves begin
_GIB = re.compile(rb"\s*\\HS")
_UGF = re.compile(rb"\s*(?:#[^\n]*\n\s*)*\[Header\]\s*?\n", re.IGNORECASE)
_NGF = re.compile(rb"(?:GI[^\n]*\n|[^\n(;]*\n\s*\d\d?\s*\n).*?^PM[A-Z]{2}[BW][A-Z]{2}", re.DOTALL | re.MULTILINE)
_CHARSETS = {"China": "gb18030", "Korea": "cp949", "Japan": "cp932", "SJIS": "cp932"}
_DATE = re.compile(r"(\d{4})[-/: ]?\s*(\d\d?)[-/: ]?\s*(\d\d?)")


@dataclass
class _Game:
    """What a file says, in SGF's terms."""

    size: int = 19
    info: dict[str, str] = field(default_factory=dict)  # texts by the names of SGF's properties; "" for what is unknown
    stones: list[str] = field(default_factory=list)  # Black's handicap stones
    moves: list[tuple[str, str]] = field(default_factory=list)  # B or W, and the point; "" for a pass

    def place_handicap(self, count: int) -> None:
        """Places handicap stones as all these servers do: as GTP, which the first moves of their games confirm."""
        if count >= 2:
            points = fixed_handicap_points(count, self.size, self.size)
            self.stones = [sgf_point(point, self.size, self.size) for point in points]

    def play(self, letter: str, x: int, y: int) -> None:
        """Adds a move in column `x` from the left and row `y` from the top, from 0; UserError if it is none."""
        number = len(self.moves) + 1
        if not (0 <= x < self.size and 0 <= y < self.size):
            raise UserError(f"move {number} is not on the board: column {x + 1}, row {y + 1} of {self.size}")
        self.moves.append((letter, sgf_point(point_at(x, y, self.size), self.size, self.size)))

    def to_sgf(self) -> str:
        """Returns the game as SGF."""
        if not self.moves:
            raise UserError("no moves found in this file")
        handicap = {"HA": str(len(self.stones))} if self.stones else {}
        info = {"GM": "1", "FF": "4", "SZ": str(self.size)} | self.info | handicap
        root = "".join(f"{name}[{escaped(text.strip()).decode()}]" for name, text in info.items() if text.strip())
        stones = "AB" + "".join(f"[{point}]" for point in self.stones) if self.stones else ""
        return f"(;{root}{stones}{''.join(f';{letter}[{point}]' for letter, point in self.moves)})"


def as_sgf(data: bytes) -> str | None:
    """Returns a record in one of these formats as SGF; None for any other file.

    Raises:
        UserError: It has no moves, or one that is not on the board.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    head = data[:_HEAD]
    for pattern, read in ((_GIB, _gib), (_UGF, _ugf), (_NGF, _ngf)):
        if pattern.match(head):
            charset = re.search(rb"(?:GIBOKIND|Lang)=(\w+)", head)
            name = charset[1].decode() if charset else ""
            usual = "cp949" if b"cyberoro" in head else ""
            return read(decode_game(data, _CHARSETS.get(name, name), usual)).to_sgf()
    return None


def _iso_date(text: str) -> str:
    found = _DATE.search(text)
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}" if found else ""


def _number(text: str | None, most: int = 9) -> int:
    """Returns the whole number that a text begins with; 0 without one. UserError if it is too large."""
    found = re.match(r"\s*(\d{1,6})", text or "")
    number = int(found[1]) if found else 0
    if number > most:
        raise UserError(f"{number} is too large: expected at most {most}")
    return number


# Tygem. \[NAME=value\] before the moves; GAMEINFOMAIN repeats the main values as NAME:value, and so do the users' ones.

_GIB_RESULTS = {"3": "B+R", "4": "W+R", "7": "B+T", "8": "W+T"}


def _gib(text: str) -> _Game:
    head, _, rest = text.partition("\\GS")
    fields = dict(re.findall(r"\\\[(\w+)=(.*?)\\\]", head, re.DOTALL))
    for name in ("GAMEINFOMAIN", "GAMEINFOSUB", "BUSERINFO", "WUSERINFO"):
        fields |= dict(re.findall(r"(?:^|,)(\w+):([^,]*)", fields.get(name, "")))
    fields |= {f"tag {name}": value for name, value in re.findall(r"(?:^|,)\s*(\w)([^,]*)", fields.get("GAMETAG", ""))}
    game = _Game(_number(fields.get("LINE"), 52) or 19)
    tenths = fields.get("GONGJE") or fields.get("tag G") or ""
    result = fields.get("GRLT") or fields.get("tag W") or ""
    margin = _number(fields.get("ZIPSU") or fields.get("tag Z"), 9999)
    by_points = f"{'BW'[int(result)]}+{number_text(margin / 10)}" if result in ("0", "1") and margin else ""
    game.info = {
        "EV": fields.get("GNAME") or fields.get("GAMENAME") or "",
        "PC": fields.get("GPLC") or fields.get("GAMEPLACE") or "",
        "DT": _iso_date(fields.get("GDATE") or fields.get("tag C") or fields.get("GAMEDATE") or ""),
        "KM": number_text(int(tenths) / 10) if re.fullmatch(r"-?\d{1,5}", tenths) else "",
        "RE": _GIB_RESULTS.get(result, by_points),
    }
    for letter, colour in (("B", "BLACK"), ("W", "WHITE")):
        shown = fields.get(f"GAME{colour}NAME", "")  # with the rank in the server's language
        game.info[f"P{letter}"] = shown.rpartition("(")[0] or fields.get(f"{letter}ID") or shown
        level = fields.get(f"{letter}LV") or fields.get("tag L" if letter == "W" else "tag N")
        game.info[f"{letter}R"] = _gib_rank(level or "")
    _play_gib(game, rest.partition("\\GE")[0])
    return game


def _gib_rank(level: str) -> str:
    if not re.fullmatch(r":?\d\d?", level):
        return ""
    number = int(level.lstrip(":"))
    return f"{18 - number}k" if number < 18 else f"{number - 17}d" if number < 27 else f"{number - 26}p"


def _play_gib(game: _Game, lines: str) -> None:
    """Plays the moves of the game: STO 0 NUMBER COLOUR X Y, with Black as colour 1, and SKI for passes."""
    for line in lines.splitlines():
        words = line.split()
        if words[:1] == ["INI"] and len(words) > 3 and not game.moves:
            game.place_handicap(_number(words[3]))
        elif words[:1] == ["STO"] and len(words) > 5:
            game.play("B" if words[3] == "1" else "W", *(_number(word, 99) for word in words[4:6]))
        elif words[:1] == ["SKI"]:
            last = game.moves[-1][0] if game.moves else "B" if game.stones else "W"
            game.moves.append(("W" if last == "B" else "B", ""))


# Cyberoro and WBaduk. Values are lines without names, in a fixed order; in older files each begins with GI, and the
# order is another one. A move is PM, two letters for its number, the colour, and the point: B is the first line, and a
# pass is AA. The komi of a game without handicap is half a point more than its whole number.

_NGF_LINES = ("EV", "SZ", "PW", "PB", "PC", "HA", "", "KM", "DT", "", "RE")
_OLDER_NGF = ("EV", "PW", "PB", "", "", "DT", "SZ", "HA", "", "KM")


def _ngf(text: str) -> _Game:
    lines = text.splitlines()
    older = [line[2:] for line in lines if line.startswith("GI")]
    info = dict(zip(_OLDER_NGF if older else _NGF_LINES, older or lines, strict=False))
    info.pop("", None)
    if older:  # the result stands in a comment on the last move: IDB[211] Black wins ...
        info["RE"] = next((line.partition("]")[2] for line in reversed(lines) if line.startswith("ID")), "")
    game = _Game(_number(info.pop("SZ", ""), 52) or 19)
    handicap, komi = _number(info.pop("HA", "")), info.get("KM", "").strip()
    game.place_handicap(handicap)
    if re.fullmatch(r"-?\d{1,3}", komi):
        info["KM"] = komi if handicap else f"{komi}.5"
    for letter in "BW":
        name, _, rank = info.pop(f"P{letter}", "").strip().rpartition(" ")
        info[f"P{letter}"], info[f"{letter}R"] = (name, _ngf_rank(rank)) if name else (rank, "")
    result = read_result(info.get("RE", ""))
    game.info = info | {"DT": _iso_date(info.get("DT", "")), "RE": result_text(result) if result else ""}
    for letter, column, row in re.findall(r"^PM[A-Z]{2}([BW])([A-Z])([A-Z])", text, re.MULTILINE):
        if column == row == "A":
            game.moves.append((letter, ""))
        else:
            game.play(letter, ord(column) - ord("B"), ord(row) - ord("B"))
    return game


def _ngf_rank(text: str) -> str:
    found = re.fullmatch(r"(\d\d?)(DP|D|K|P)\*?", text)
    return f"{found[1]}{found[2][-1].lower()}" if found else text


# PandaNet. Sections of lines; a move is two letters for the point, the colour, and its number: 0 for handicap stones.

_UGF_RULES = {"JPN": "Japanese", "CHN": "Chinese"}
_UGF_REASONS = {"C": "R", "G": "R", "E": "R", "T": "T", "F": "F"}


def _ugf(text: str) -> _Game:
    _, *parts = re.split(r"^\[(\w+)\]\s*$", text, flags=re.MULTILINE)
    sections = {name.lower(): lines for name, lines in zip(parts[::2], parts[1::2], strict=True)}
    fields = {
        name.lower(): value.strip() for name, value in re.findall(r"^(\w+)=(.*)$", sections["header"], re.MULTILINE)
    }
    if "PLAIN" not in fields.get("crypt", "PLAIN"):
        raise UserError("the file is encrypted: save it again in Panda's program as SGF or as a plain file")
    game = _Game(_number(fields.get("size"), 52) or 19)
    komi = fields.get("hdcp", "").partition(",")[2]
    winner, _, how = fields.get("winner", "").partition(",")
    game.info = {
        "EV": fields.get("title", ""),
        "PC": fields.get("place", ""),
        "DT": _iso_date(fields.get("date", "")),
        "KM": number_text(float(komi)) if re.fullmatch(r"-?\d{1,4}(\.\d+)?", komi) else "",
        "RU": _UGF_RULES.get(fields.get("rule", ""), fields.get("rule", "")),
        "RE": "0" if winner == "D" else _ugf_result(winner, how),
    }
    for letter in "BW":
        name, _, others = fields.get(f"player{letter.lower()}", "").partition(",")
        game.info |= {f"P{letter}": name, f"{letter}R": others.partition(",")[0]}
    rises = fields.get("coordinatetype", "").upper() == "IGS"  # rows are counted from the bottom
    moves = re.findall(r"^([A-Z])([A-Z]),([BW])\d*,(\d+)", sections.get("data", ""), re.MULTILINE)
    for column, row, letter, number in moves:
        x, y = ord(column) - ord("A"), ord(row) - ord("A")
        if number == "0" and letter == "B" and not game.moves:
            game.play(letter, x, game.size - 1 - y if rises else y)
            game.stones.append(game.moves.pop()[1])
        elif column + row == "YA":
            game.moves.append((letter, ""))
        else:
            game.play(letter, x, game.size - 1 - y if rises else y)
    return game


def _ugf_result(winner: str, how: str) -> str:
    if winner not in ("B", "W"):
        return ""
    points = re.match(r"\d+(\.\d+)?", how)
    return f"{winner}+{number_text(float(points[0])) if points else _UGF_REASONS.get(how[:1], '')}"
