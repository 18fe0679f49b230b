"""Reading every form of SGF, files that are bad, and samples of archives of real games."""

import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from move_names import moves, points

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Move
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf, read_sgf_games, split_games, syntax

DATA = Path(__file__).resolve().parents[1] / "data" / "sgf"


# Charsets.


@pytest.mark.parametrize(
    ("file", "black", "white"),
    [
        ("gbk_undeclared.sgf", "王小明", "李大同"),
        ("shift_jis.sgf", "表十予", "ソ能"),
        ("shift_jis_undeclared.sgf", "本因坊表", "ソウル能"),
        ("big5_undeclared.sgf", "許功蓋", "吳清源"),
        ("euc_kr_undeclared.sgf", "이창호", "조훈현"),
        ("gbk_declared_utf8.sgf", "古力", "李世石"),
        ("utf8_declared_gbk.sgf", "古力", "李世石"),
        ("latin1_undeclared.sgf", "Jörg Müller", "André"),
        ("iso_2022_jp.sgf", "坂田", "呉清源"),
        ("utf16.sgf", "坂田", "呉清源"),
        ("utf16_no_mark.sgf", "坂田", "呉清源"),
        ("damaged_utf8.sgf", "呉清源", "坂田栄男"),
    ],
)
def test_names_in_any_charset(file: str, black: str, white: str) -> None:
    record = read_sgf(DATA / file)
    assert (record.black, record.white) == (black, white)
    assert moves(record) == "Bee Wcc Bgg"


def test_each_game_of_a_collection_has_its_own_charset() -> None:
    assert [(game.black, game.white) for game in read_sgf_games(DATA / "two_charsets.sgf")] == [
        ("古力", "李世石"),
        ("表", "ソ"),
    ]


@pytest.mark.parametrize(
    "games",
    [
        [("GBK", "gbk", "古力", "时越"), ("", "utf-8", "柯洁", "朴廷桓")],
        [("", "utf-8", "柯洁", "朴廷桓"), ("GBK", "gbk", "古力", "时越")],
        [("UTF-8", "utf-8", "柯洁", "朴廷桓"), ("", "gbk", "古力", "时越")],
        [("GBK", "gbk", "古力", "时越"), ("", "latin-1", "Jörg Müller", "André")],
        [("Big5", "big5", "許功蓋", "吳清源"), ("", "big5", "林海峰", "王立誠")],
        [("EUC-JP", "euc_jp", "坂田栄男", "高川格"), ("", "euc_jp", "呉清源", "木谷實")],
        [("windows-1251", "cp1251", "Иванов", "Петров"), ("", "cp1251", "Петров", "Иванов")],
    ],
)
def test_a_game_without_charset_is_read_by_itself(games: list[tuple[str, str, str, str]]) -> None:
    texts = [
        (f"(;SZ[9]{f'CA[{name}]' * bool(name)}PB[{black}]PW[{white}];B[aa])", charset)
        for name, charset, black, white in games
    ]
    read = list(read_sgf_games(b"\n".join(text.encode(charset) for text, charset in texts)))
    assert [(game.black, game.white) for game in read] == [(black, white) for _, _, black, white in games]
    assert [moves(game) for game in read] == ["Baa", "Baa"]


@pytest.mark.parametrize(
    ("data", "names"),
    [
        # Parentheses in texts hide no root and begin none.
        (
            "(;CA[GBK]SZ[9]PB[古力];B[aa])".encode("gbk") + "(;EV[决赛 (1)]PB[柯洁]PW[朴廷桓]SZ[9];B[aa])".encode(),
            ["古力", "柯洁"],
        ),
        ("(;GM[1]SZ[9]PB[Иванов]C[привет (;-) да]CA[windows-1251];B[aa])".encode("cp1251"), ["Иванов"]),
        (
            "(;GM[1]CA[GB2312]SZ[9]PB[古力];B[ee])\n".encode("gb2312")
            + "(;GM[1]GN[決勝 (A) ]PB[坂田]CA[UTF-8]SZ[9];B[ee])".encode(),
            ["古力", "決勝 (A) 坂田"],
        ),
        # Roots without semicolons.
        ("(CA[GBK]PB[古力];B[ee])".encode("gbk") + "(CA[Big5]PB[許功蓋];B[ee])".encode("big5"), ["古力", "許功蓋"]),
    ],
)
def test_where_a_game_of_another_charset_begins(data: bytes, names: list[str]) -> None:
    assert [game.root.text("GN") + game.black for game in read_sgf_games(data)] == names


@pytest.mark.parametrize(
    "name", ["unicode_escape", "rot13", "base64", "undefined", "utf-7", "idna", "hz", "nosuch", "cp037"]
)
def test_charsets_that_hold_no_ascii_are_not_believed(name: str) -> None:
    record = read_sgf(f"(;CA[{name}]SZ[9]PB[a\\]b é];B[ee])".encode())
    assert (record.black, moves(record)) == ("a]b é", "Bee")


# Forms of the file.


def test_root_without_semicolon() -> None:
    record = read_sgf(DATA / "no_semicolon.sgf")
    assert (record.black, record.komi, moves(record)) == ("Kuro", 6.5, "Bpd Wdd")


@pytest.mark.parametrize("first", ["(GM[1]SZ[9];B[aa];W[bb])", "(;GM[1]SZ[9];B[aa];W[bb])"])
def test_roots_without_semicolon_in_a_collection(first: str) -> None:
    data = f"{first}\nSee (A[1]) or (AB[cc]) below.\n( GM[1]SZ[9]C[(GM[1\\]];B[cc];W[dd];B[ee])".encode()
    assert [moves(game) for game in read_sgf_games(data)] == ["Baa Wbb", "Bcc Wdd Bee"]
    assert not read_sgf(data).is_whole_file


def test_names_with_lower_case_letters() -> None:
    record = read_sgf(DATA / "old.sgf")
    assert (record.black, record.white, record.komi) == ("An", "Bo", 0.5)
    assert record.root.setup == dict.fromkeys(points("C3 G7"), BLACK)
    assert moves(record) == "Wee B W"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"(;GM[1]FF[3]SZ[9];B[ee];W[tt];B[])", "Bee W B"),
        (b"(;gm[1]ff[4]sz[9]c[so: b [x\\]];b[ee];w[cc])", "Bee Wcc"),
        (b"From (A[1]:\n(GM[1]SZ[9];B[ee];W[cc])", "Bee Wcc"),
        (b"(;SZ[21];B[tt];W[])", "Btt W"),
        (b"(;SZ[20:21];B[tt])", "Btt"),
        (b"(;SZ[52];B[ZZ])", "BZZ"),
        (b"(;B[pd]\r;W[ dp\n])\r", "Bpd Wdp"),
        (b"(;SZ[9];B[ee]W[cc];W[gc]B[gg])", "Bee Wcc Wgc Bgg"),
        (b"(;SZ[9]B[ee];W[cc])", "Bee Wcc"),
        (b"(;SZ[9];B[ee]\xe3\x80\x80;W[cc]\xef\xbb\xbf)\0\0\x1a", "Bee Wcc"),
        (b"\xef\xbb\xbf(;SZ[9](;B[ee](;W[cc](;B[gg]))))", "Bee Wcc Bgg"),
        (b"(;SZ[9]C[a (;B[aa\\] and \\\\];B[ee])", "Bee"),
        (b"(;)", ""),
        (b"(;SZ[9]" + b"(;B[ee];W[])" * 3 + b")", "Bee W"),
    ],
)
def test_forms_of_moves(data: bytes, expected: str) -> None:
    assert moves(read_sgf(data)) == expected


def test_a_move_in_the_root_gets_a_node_of_its_own() -> None:
    record = read_sgf(b"(;SZ[9]AB[aa]C[hello]B[ee];W[cc]B[gg]C[both])")
    first = record.main_line[1]
    assert record.root.setup == {points("A9")[0]: BLACK}
    assert first.move == Move(BLACK, points("E5")[0])
    assert [node.comment for node in record.main_line] == ["", "hello", "", "both"]


def test_texts() -> None:
    record = read_sgf(b"(;SZ[9]PB[Black \\\r\nPlayer\tx]PW[a\\]b\\\\c]AP[GNU Go\\:x:3.8]C[one\r\n\ttwo\\: \\[3\\]])")
    assert (record.black, record.white) == ("Black Player x", "a]b\\c")
    assert record.application == "GNU Go:x:3.8"
    assert record.root.comment == "one\n two: [3]"


def test_comments_have_all_their_values() -> None:
    record = read_sgf(b"(;SZ[9]EV[c][d];B[aa]C[one]C[two\\]];W[bb]C[][three])")
    assert [node.comment for node in record.main_line] == ["", "one\ntwo]", "three"]
    assert record.root.text("EV") == "c"


def test_numbers_that_cannot_be_read_are_written_as_they_were_until_they_are_set() -> None:
    record = read_sgf(b"(;SZ[9]TM[2h]KM[six]HA[two];B[ee])")
    assert (record.komi, record.handicap, record.time_limit) == (None, 0, None)
    assert all(text in record.to_sgf() for text in ("TM[2h]", "KM[six]", "HA[two]"))
    record.komi, record.handicap, record.time_limit = 6.5, 2, 60.0
    assert all(text in record.to_sgf() for text in ("TM[60]", "KM[6.5]", "HA[2]"))
    record.komi, record.handicap, record.time_limit = None, 0, None
    assert not any(name in record.to_sgf() for name in ("TM", "KM", "HA"))


@pytest.mark.parametrize(
    ("written", "komi"),
    [
        ("6.5", 6.5),
        (" 6.5 ", 6.5),
        ("6,5", 6.5),
        ("-5", -5.0),
        ("0", 0.0),
        ("", None),
        ("six", None),
        ("inf", None),
        ("375", 7.5),
        ("3.75", 7.5),
        ("-3,25", -6.5),
        ("3.750", 3.75),
        ("200", 2.0),
        ("200.0", 200.0),
        ("375.00", 7.5),
        ("650,00", 6.5),
        ("100000", 1000.0),
        ("650", 6.5),
        ("-100", -100.0),
        ("1e308", None),
        ("1001", None),
    ],
)
def test_komi(written: str, komi: float | None) -> None:
    assert read_sgf(f"(;SZ[9]KM[{written}])".encode()).komi == komi


@pytest.mark.parametrize(("written", "stones"), [("4", 4), (" 2\n", 2), ("", 0), ("0", 0), ("two", 0), ("-3", 0)])
def test_handicap(written: str, stones: int) -> None:
    assert read_sgf(f"(;HA[{written}])".encode()).handicap == stones


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("koPOSITIONALscoreAREAtaxNONEsui1", ("POSITIONAL", "AREA", "NONE", True, False, "0")),
        ("koSIMPLEscoreAREAtaxNONEsui0whbN-1", ("SIMPLE", "AREA", "NONE", False, False, "N-1")),
        ("koSITUATIONALscoreTERRITORYsui0", ("SITUATIONAL", "TERRITORY", "SEKI", False, False, "0")),
        ("koSIMPLEscoreAREAtaxALLsui1button1whbNfpok1", ("SIMPLE", "AREA", "ALL", True, True, "N")),
    ],
)
def test_rules_as_katago_writes_them(written: str, parts: tuple[object, ...]) -> None:
    rules = GameRecord(rules=written).game_rules()
    assert rules is not None
    found = rules.ko, rules.scoring, rules.tax, rules.suicide, rules.has_button, rules.white_handicap_bonus
    assert found == parts and rules.friendly_pass_ok == written.endswith("fpok1")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Japanese", "japanese"),
        ("Chinese, 3.75 zi", "chinese"),
        ("JP", "japanese"),
        ("Japonais", "japanese"),
        ("\u65e5\u672c\u30eb\u30fc\u30eb", "japanese"),
        ("\uc77c\ubcf8", "japanese"),
        ("cn", "chinese"),
        ("\u4e2d\u570b\u898f\u5247", "chinese"),
        ("\uc911\uad6d", "chinese"),
        ("KO", "korean"),
        ("Cor\u00e9en", "korean"),
        ("\u97e9\u56fd", "korean"),
        ("\ud55c\uad6d", "korean"),
        ("Calvinball", None),
        ("Ko: superko", None),
        ("NZ", "new-zealand"),
        ("GOE", "ing"),
        ("AGA rules", "aga"),
        ("Korean", "korean"),
        ("", None),
    ],
)
def test_rules(written: str, name: str | None) -> None:
    record = GameRecord(rules=written)
    assert record.game_rules() == (RULESETS[name] if name else None)
    assert record.to_game().rules == RULESETS[name or "chinese"]


# Trees and collections.


@pytest.mark.parametrize(
    ("variation", "expected"),
    [
        ((), "Bee Wec Beg Weh Bdh"),
        ((0, 1), "Bee Wec Beg Weh Bfh Wfi"),
        ((1,), "Bee Wec Bfc Wfb"),
        ((1, 1), "Bee Wec Bfc Wgb Bgc"),
    ],
)
def test_variations(variation: tuple[int, ...], expected: str) -> None:
    assert moves(read_sgf(DATA / "variations.sgf", variation=variation)) == expected


@pytest.mark.parametrize("variation", [(2,), (-1,), (0, 2), (0, 1, 0)])
def test_variations_that_are_not_there(variation: tuple[int, ...]) -> None:
    with pytest.raises(SgfError, match=r"variations\.sgf: there is no variation"):
        read_sgf(DATA / "variations.sgf", variation=variation)


def test_collection() -> None:
    assert read_sgf(DATA / "collection.sgf", game=1).black == "B"
    with pytest.raises(SgfError, match=r"collection\.sgf: not a game of Go: GM\[11\]"):
        read_sgf(DATA / "collection.sgf", game=2)
    with pytest.raises(SgfError, match=r"collection\.sgf: there is no game 4, it holds 4"):
        read_sgf(DATA / "collection.sgf", game=4)
    errors: list[SgfError] = []
    assert [game.black for game in read_sgf_games(DATA / "collection.sgf", on_error=errors.append)] == ["A", "B", "C"]
    assert ["collection.sgf, game 3: not a game of Go: GM[11]" in str(error) for error in errors] == [True]
    with pytest.raises(SgfError):
        list(read_sgf_games(DATA / "collection.sgf"))


def test_a_collection_is_split_without_reading_it() -> None:
    content = (DATA / "collection.sgf").read_bytes()
    games = split_games(content)
    assert [b"GM[11]" in game for game in games] == [False, False, True, False]
    assert [read_sgf(games[place]).black for place in (0, 1, 3)] == ["A", "B", "C"]
    games = split_games("text (;-) (;C[a \\] ( 白];B[aa](;W[bb])(;W[cc])) [ (;C[never closed".encode("gb18030"))
    assert len(games) == 2 and read_sgf(games[0]).root.comment == "a ] ( 白"
    assert split_games(b"no games") == split_games(b"") == []


def test_a_problem_begins_with_stones_of_white() -> None:
    texts = ["AB[aa]AW[bb]", "AB[aa];AW[bb];B[cc]", "HA[2]AB[aa][bb];W[cc]", "AB[aa];B[bb];AW[cc]", ""]
    assert [read_sgf(f"(;SZ[9]{text})".encode()).is_problem for text in texts] == [True, True, False, False, False]


def test_one_game_a_line() -> None:
    errors: list[SgfError] = []
    games = list(read_sgf_games(DATA / "games.sgfs", on_error=errors.append))
    assert [game.black for game in games] == ["One", "Four"]
    assert [moves(game) for game in games] == ["Bee Wcc", "Bgg W"]
    assert ["line 3" in str(errors[0]), "line 4" in str(errors[1]), len(errors)] == [True, True, 2]


# Bad files.


def test_the_place_of_an_error_is_found_in_linear_time() -> None:
    started = time.process_time()
    with pytest.raises(SgfError, match="unexpected 'B\\)': a property without a value"):
        read_sgf(b"(;SZ[9]C[a]" + b"\v" * 1_000_000 + b"B)")
    assert time.process_time() - started < 20


ONLY_ANOTHER = "after a variation only another one may begin"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no game record found"),
        (b"<html><body>404 Not Found</body></html>", "no game record found"),
        (b"\\HS\r\n\\[GIBOKIND=Korea\\]\r\n", "no moves found in this file"),
        (b"PK\x03\x04" + bytes(range(256)), "a zip archive; unpack it first (`gtp_engine learn` reads archives)"),
        (b"(;", "no game record found"),
        (b"(;GM[3];B[ee])", "not a game of Go: GM[3]"),
        (b"(;SZ[9];B[ee]", "the file ends before the game does: closing parentheses missing: 1"),
        (b"(;SZ[9]\n;B[ee]\n;W[c", "line 3: the file ends inside a value, its closing bracket is missing"),
        (b"hello\n(;SZ[9]\n;B[ee]C[x]7)", "line 3: unexpected '7)'"),
        (b"(;SZ[9];B[ee];W(cc))", "line 1: unexpected 'W(cc))': a property without a value"),
        (b"(;SZ[9];[ee])", "line 1: unexpected '[ee])': a value without a property"),
        (b"(;GM[1]SZ[9](;B[aa]);W[bb])", f"line 1: unexpected ';W[bb])': {ONLY_ANOTHER}"),
        (b"(;SZ[9]\n(;B[aa](;W[cc])(;W[dd])\n;B[bb]))", f"line 3: unexpected ';B[bb]))': {ONLY_ANOTHER}"),
        (b"(;SZ[9](;B[aa])\nC[x];W[bb])", f"line 2: unexpected 'C[x];W[bb])': {ONLY_ANOTHER}"),
        (b"(;SZ[9](;B[aa]);C[x])", f"line 1: unexpected ';C[x])': {ONLY_ANOTHER}"),
        (b"(;SZ[9];B[aa]);W[bb](;B[cc]);W[dd])", f"line 1: unexpected ';W[dd])': {ONLY_ANOTHER}"),
        (b"(;SZ[9](;B[a]);B[b]);C[]", f"line 1: unexpected ';B[b]);C[]': {ONLY_ANOTHER}"),
        (b"(;SZ[9];B[aa]);W[bb]", "the file ends before the game does: closing parentheses missing: 1"),
        (b"(;SZ[9](;B[aa])(B[bb]))", "line 1: unexpected 'B[bb]))': a variation begins with ';'"),
        (b"(;SZ[9];B[ee]W[cc]B[dd])", "move 1: B has 2 values, expected one move"),
        (b"(;SZ[9];B[ee];W[zz])", "move 2: invalid SGF point 'zz' on a 9x9 board"),
        (b"(;SZ[9];B[ee];W[bb];C[x]AB[zz])", "after move 2: invalid SGF point 'zz' on a 9x9 board"),
        (b"(;SZ[9]B[ee];W[bb](;B[zz])(;B[cc]))", "move 3: invalid SGF point 'zz' on a 9x9 board"),
        (b"(;SZ[9];B[37])", "move 1: invalid SGF point '37' on a 9x9 board"),
        (b"(;SZ[9];B[eee])", "move 1: invalid SGF point 'eee' on a 9x9 board"),
        (b"(;SZ[9]AB[tt])", "the start: AB names no point: 'tt'"),
        (b"(;SZ[9]AB[aa:zz])", "the start: invalid SGF point 'zz' on a 9x9 board"),
        (b"(;SZ[9]AB[aa][bb]AW[aa])", "the start: AB, AW and AE name the same point"),
        (b"(;SZ[0])", "invalid board size '0': expected N or WIDTHxHEIGHT, each from 1 to 52"),
        (b"(;SZ[53])", "invalid board size '53': expected N or WIDTHxHEIGHT, each from 1 to 52"),
        (b"(;SZ[large])", "invalid board size 'large': expected N or WIDTHxHEIGHT, each from 1 to 52"),
    ],
)
def test_bad_files_are_one_line_of_error(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "bad.sgf"
    file.write_bytes(data)
    with pytest.raises(SgfError) as error:
        read_sgf(file)
    assert str(error.value) == f"{file}: {message}"


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nosuch.sgf", tmp_path):
        with pytest.raises(OSError, match=path.name):
            read_sgf(path)


@pytest.mark.parametrize(
    "data",
    [
        b"(;" * 100_000,
        b"(;B[aa](;W[bb]" * 20_000 + b"))" * 20_000,
        b"(;C" + b"[" * 300_000,
        b"(;-" * 100_000,
        b"(;C[" + b"\\" * 300_001,
        b"(" + b" " * 300_000 + b"(",
        b"(;lower" * 50_000,
        b"(;A" + b"a1" * 150_000,
        b"(;CA[a]" * 10_000 + b"CA[b]",
    ],
)
def test_hostile_files_take_no_time(data: bytes) -> None:
    try:
        read_sgf(data)
    except SgfError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(("node", "end"), [(b";", b""), (b";B[aa]", b""), (b"(;B[aa])", b""), (b"(;B[aa]", b")")])
def test_a_game_of_too_many_nodes_is_refused(node: bytes, end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million nodes, in 4 MB, took 1.1 GB of memory."""
    monkeypatch.setattr(syntax, "MOST_NODES", 10)
    root = b"(;SZ[9]C[;;;(;;;\\];;;;;]"
    assert len(list(read_sgf(root + node * 9 + end * 9 + b")"))) == 10
    with pytest.raises(SgfError, match="SGF data: a game of more than 10 nodes is too large"):
        read_sgf(root + node * 10 + end * 10 + b")")
    assert len(list(read_sgf_games((root + node * 9 + end * 9 + b")") * 20))) == 20


def test_nodes_are_counted_up_to_where_a_game_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted up to the end of the file for each "(;-", the nodes of a megabyte would take hours."""
    monkeypatch.setattr(syntax, "MOST_NODES", 10)
    assert len(list(read_sgf(b"(;-" * 20 + b"(;SZ[9];B[aa])"))) == 2


VALID = b"(;GM[1]SZ[9]CA[UTF-8]PB[A\\]b]AB[aa:bb][ii](;B[ee]C[x:\xc3\xa9];W[](;B[cc])(;B[dd]))(;B[ff]))"


@settings(deadline=None)
@given(st.integers(0, len(VALID)), st.integers(0, 5), st.binary(max_size=5))
@example(62, 1, b"a\x80")  # a name in lower case, and what is no character before its value
def test_a_file_with_a_damage_reads_or_is_refused(at: int, removed: int, added: bytes) -> None:
    try:
        record = read_sgf(VALID[:at] + added + VALID[at + removed :])
        record.to_game()
    except SgfError as error:
        assert "\n" not in str(error)
    else:
        assert record.moves == read_sgf(record.to_sgf().encode()).moves


def test_rectangles_that_repeat_are_refused() -> None:
    """A file of 140 kB took 17 s: 20,000 times all 2,704 points."""
    twice = read_sgf(b"(;SZ[9]AB[aa:cc][bb:dd])")
    assert len(twice.root.setup) == 14
    with pytest.raises(SgfError, match="AE names the points of the board more than 8 times"):
        read_sgf(b"(;SZ[52]AE" + b"[aa:ZZ]" * 20_000 + b")")


def test_stones_that_are_set_up_without_end_are_refused() -> None:
    """A file of 3 MB took 3 GB: 300,000 times all 625 points."""
    data = b"(;SZ[25]" + b";AB[aa:yx];AE[aa:yx]" * 2_500
    assert len(read_sgf(data + b")").main_line) == 5001
    for refused in (data + b";AB[aa])", data + b"(;AB[aa])(;B[bb]))"):
        with pytest.raises(SgfError, match="stones are set up in more than 5,000 places"):
            read_sgf(refused)


def test_charsets_without_games_between_them_are_read_to_the_end() -> None:
    """The start of each one's game was searched from the start of the file."""
    data = b"(;SZ[9]C[e" + b"CA[gbk]CA[big5]" * 30_000 + b";B[ee])"
    record = read_sgf(data)
    assert (record.root.comment, len(record.moves)) == ("eCA[gbk", 1)


@pytest.mark.parametrize("read", [read_sgf, lambda source: list(read_sgf_games(source))])
def test_what_is_no_name_of_a_file(read: Callable[[Path | str], object], tmp_path: Path) -> None:
    with pytest.raises(SgfError, match="pass the content as bytes"):
        read("(;SZ[9];B[ee])")
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "game.sgf"))
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("game.sgf", "(;SZ[9])")
    with pytest.raises(SgfError, match=r"games\.zip: a zip archive; unpack it first"):
        read(archive)


SAMPLE = 10  # games a member, taken from all over it


@pytest.mark.parametrize("archive", ["pro19", "dan19", "small9"])
def test_games_of_an_archive_read_and_replay(shared: Path, archive: str, tmp_path: Path) -> None:
    path = shared / "games" / f"{archive}.zip"
    if not path.is_file():
        pytest.skip(f"no archive of games at {path}")
    file = tmp_path / "sample.sgfs"
    with zipfile.ZipFile(path) as members:
        for name in members.namelist():
            lines = members.read(name).splitlines()
            sample = lines[:: max(1, len(lines) // SAMPLE)]
            file.write_bytes(b"\n".join(sample))
            games = list(read_sgf_games(file))
            assert len(games) == len(sample)
            for game in games:
                position = game.to_game()
                assert len(position.moves) == len(game.moves) >= 15
                assert read_sgf(game.to_sgf().encode()).to_sgf() == game.to_sgf()
                assert {move.colour for move in game.moves} == {BLACK, WHITE}
