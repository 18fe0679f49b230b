"""Records as servers write them: what they say under other names and in other units."""

import pytest

from gtp_engine import GameRecord, SgfError, read_sgf, read_sgf_games
from gtp_engine.base.languages.texts import texts
from gtp_engine.go.coords import vertex as vertex_on
from gtp_engine.go.rules import RULESETS, rules_name
from gtp_engine.go.sgf import shown_result, terms_of
from gtp_engine.go.sgf.syntax import split_games

NO_KOMI = "the record has no komi: it is taken as {}"
WRONG = "the komi of 0 does not fit the result"
BRACKETS = "line {}: brackets in a text without the backslash that SGF requires; the meaning is clear"


def vertex(point: int) -> str:
    return vertex_on(point, 19, 19)


def read(root: str) -> GameRecord:
    return read_sgf(f"(;{root};B[pd];W[dp])".encode())


@pytest.mark.parametrize(
    ("root", "komi"),
    [
        ("KO[7.5]", 7.5),  # Sina
        ("KO[6.5]KM[5.5]", 5.5),
        ("KO[6.5]KM[]", 6.5),
        ("KO[]", None),  # SGF's own KO
        ("KO[none]", None),
        ("KO[黒6目半]", 6.5),  # the Nihon Ki-in
        ("KO[黒五目半コミ出し]", 5.5),
        ("KO[白6目半]", None),
        ("KO[逆コミ5目半]", None),
        ("KM[倒贴3又3/4子]", None),
        ("KM[역덤 6집반]", None),
        ("KM[让二子]", None),
        ("KO[コミなし]", None),
        ("KM[黑贴3又3/4子]", 7.5),
        ("KM[덤 6집반]", 6.5),
        ("KM[200目]", 200.0),
        ("KM[50]AP[foxwq]", 0.5),
        ("KM[50]AP[GNU Go:3.8]AP[foxwq]", 0.5),
        ("KM[375]AP[foxwq]", 7.5),
        ("KM[325]AP[foxwq]", 6.5),
        ("KM[650]AP[foxwq]", 6.5),
        ("KM[0]AP[foxwq]", 0.0),
        ("KM[6.5]AP[foxwq]", 6.5),
        ("KM[10]AP[foxwq]", 10.0),
        ("KM[65]AP[foxwq]", 65.0),
        ("KM[-50]AP[foxwq]", -0.5),
        ("KM[-650]AP[foxwq]", -6.5),
        ("KM[50]", 50.0),
        ("KM[50]AP[CGoban:3]", 50.0),
    ],
)
def test_komi(root: str, komi: float | None) -> None:
    assert read(root).komi == komi


@pytest.mark.parametrize("komi", [0.5, 10.0, 12.0, 25.0, 50.0, 75.0, -50.0, 65.0, 375.0, 7.25])
def test_a_komi_that_was_set_is_read_again(komi: float) -> None:
    record = read("AP[foxwq]KM[375]")
    record.komi = komi
    assert read_sgf(record.to_sgf().encode()).komi == komi


def test_what_has_another_name_is_saved_under_that_of_sgf() -> None:
    assert "KM[6.5]" in read("KO[黒6目半]").to_sgf()
    record = read("KO[7.5]RD[2026-04-24]HD[2]RE[x]")
    assert (record.komi, record.date, record.handicap) == (7.5, "2026-04-24", 2)
    saved = record.to_sgf()
    assert all(part in saved for part in ("KM[7.5]", "DT[2026-04-24]", "HA[2]"))
    assert not any(part in saved for part in ("KO[", "RD[", "HD["))
    both = read("RD[2026-04-24]DT[2026-04-25]HD[two]")
    assert (both.date, both.handicap) == ("2026-04-25", 0) and "RD[2026-04-24]" in both.to_sgf()


@pytest.mark.parametrize(
    ("root", "komi", "rules", "notices"),
    [
        ("KM[6.5]RU[JP]", 6.5, "japanese", []),
        ("", 0, "chinese", ["the record names no rules: judged by Chinese rules", NO_KOMI.format(0)]),
        ("RU[XY]KM[7]", 7, "chinese", ["unknown rules 'XY': judged by Chinese rules"]),
        ("RU[Japanese]KM[]", 6.5, "japanese", [NO_KOMI.format(6.5)]),
        ("RU[Chinese]KM[]", 7.5, "chinese", [NO_KOMI.format(7.5)]),
        ("SZ[9]RU[Chinese]KM[]", 7, "chinese", [NO_KOMI.format(7)]),
        ("HA[3]RU[Japanese]KM[]", 0.5, "japanese", [NO_KOMI.format(0.5)]),
        ("RU[Korean]KM[half]", 6.5, "japanese", ["unknown komi 'half': it is taken as 6.5"]),
        ("RU[Japanese]KM[0]RE[W+10.5]", 6.5, "japanese", [f"{WRONG} W+10.5: it is taken as 6.5"]),
        ("RU[Japanese]KM[0]RE[W+10]", 0, "japanese", []),
        ("RU[Japanese]KM[0]RE[B+R]", 0, "japanese", []),
        ("RU[Chinese]KM[0]HA[2]RE[B+3.75]", 0.5, "chinese", [f"{WRONG} B+3.75: it is taken as 0.5"]),
        ("AW[aa]", 0, "chinese", []),  # a problem
    ],
)
def test_what_a_record_leaves_open_is_assumed_and_told(root: str, komi: float, rules: str, notices: list[str]) -> None:
    record = read_sgf(f"(;{root};B[dd];W[gg])".encode())
    terms = terms_of(record)
    assert (terms.komi, rules_name(terms.rules)) == (komi, rules)
    assert list(map(texts().say, terms.notices)) == notices
    assert (record.to_game().komi, record.to_game().rules) == (komi, terms.rules)
    chosen = terms_of(record, "aga", 3)
    assert (rules_name(chosen.rules), chosen.komi, chosen.notices) == ("aga", 3, ())
    kept = terms_of(record, usual_rules=RULESETS["ing"], usual_komi=8)
    assert (kept.rules == RULESETS["ing"]) == any("rules" in notice for notice in notices) or not notices
    assert (kept.komi == 8) == ("KM" not in root)


@pytest.mark.parametrize(
    "text",
    ["Free", "Friendly game", "Corrected", "Again", "Frankfurt", "goes by area", "Ingame", "Korrigiert", "Cincinnati"],
)
def test_words_that_name_no_rules(text: str) -> None:
    assert read(f"RU[{text}]").game_rules() is None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("J JP jpn Japanese Japanisch Giapponesi японские 日本 日本ルール 일본", "japanese"),
        ("C CN chn Chinese Chinesisch Cinese chinoises китайские 中国 中國規則 중국룰", "chinese"),
        ("K KO KR kor Korean Koreanisch Coreano Coreean coréenne корейские 韩国 韓國 한국", "japanese"),
        (
            "AGA American French FR NZ New-Zealand neuseeländisch новозеландские",
            4 * "aga " + 4 * "new-zealand ",
        ),
        ("GOE Ing 应氏 BGA British TT Tromp-Taylor", "ing ing ing aga aga tromp-taylor tromp-taylor"),
    ],
)
def test_rules_in_many_languages(written: str, name: str) -> None:
    found = [read(f"RU[{text}]").game_rules() for text in written.split()]
    names = name.split() * (1 if " " in name else len(found))
    assert [rules and rules_name(rules) for rules in found] == names


@pytest.mark.parametrize("text", ["", "XY", "area", "rules", "?"])
def test_other_rules_are_not_guessed(text: str) -> None:
    assert read(f"RU[{text}]").game_rules() is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("白胜2又3/4子", "W+5.5"),
        ("黑胜1/4子", "B+0.5"),
        ("黑胜3又1/٠子", "B+3"),
        ("黑8又3/4子胜", "B+17.5"),
        ("黑胜四分之三子", "B+1.5"),
        ("黑胜1子半", "B+3"),
        ("黑胜 2½子", "B+5"),
        ("白胜半目", "W+0.5"),
        ("黑3.5目胜", "B+3.5"),
        ("黑中盘胜", "B+R"),
        ("白超时负", "B+T"),
        ("黑负", "W+"),
        ("黒中押し勝ち", "B+R"),
        ("白番２目半勝ち", "W+2.5"),
        ("黒時間切れ勝ち", "B+T"),
        ("흑 불계승", "B+R"),
        ("백 3집반승", "W+3.5"),
        ("백 기권승", "W+F"),
        ("226수 백불계승", "W+R"),
        ("294수 흑0.5집승", "B+0.5"),
        ("150手完, 白中押し勝ち", "W+R"),
        ("301手完、黒1目半勝ち", "B+1.5"),
        ("200手完", "200手完"),
        ("Black wins by 0.5!", "B+0.5"),
        ("White wins by resignation!", "W+R"),
        ("Black loses on time!", "W+T"),
        ("Black resigns. W 33.5 B 31.0", "W+R"),
        ("White resigned.", "B+R"),
        ("Black forfeits on time.", "W+T"),
        ("White forfeits", "B+F"),
        ("白方强退告负。", "B+F"),
        ("和棋。", "draw"),
        ("没有结果", "void"),
        ("持碁", "draw"),
        ("Jigo", "draw"),
        ("黑番", "黑番"),
        ("Black to play, White resigns", "Black to play, White resigns"),
        ("White (Black: Ann) wins", "White (Black: Ann) wins"),
        ("Black wins, White resigned", "B+R"),
        ("黑胜3/4目", "B+"),
    ],
)
def test_results_in_words(text: str, result: str) -> None:
    record = read(f"RE[{text}]")
    assert (record.result, shown_result(record.result)) == (text, result)


@pytest.mark.parametrize(
    ("text", "what", "found"),
    [
        ("PB[Mister[3d]]PW[y]", "black", "Mister[3d]"),
        ("PW[a]PB[A[1d] and B[2d]]", "black", "A[1d] and B[2d]"),
        ("PB[smile :] there]KM[1]", "black", "smile :] there"),
        ("PB[\\[\\] and \\\\\\[\\\\]\n]", "black", "[] and \\[\\]"),
        ("PB[b][c]PW[y]", "black", "b"),
    ],
)
def test_unescaped_brackets_that_can_only_be_text(text: str, what: str, found: str) -> None:
    record = read_sgf(f"(;GM[1]\n{text};B[pd];W[dp])\n(;PB[other])".encode())
    assert getattr(record, what).strip() == found and len(record.moves) == 2
    said = [texts().say(each) for each in record.repairs]
    assert said == ([] if "[c]" in text else [BRACKETS.format(2)])
    again = read_sgf(record.to_sgf().encode())
    assert getattr(again, what).strip() == found and again.repairs == ()


@pytest.mark.parametrize(
    ("text", "black", "repaired"),
    [
        ("PB[x\\]PW[y]", "x\\", True),
        ("PW[y]PB[C:\\\\x\\]\r\n", "C:\\x\\", True),
        ("PB[x\\\\]PW[y]", "x\\", False),
        ("PW[y]PB[a\\] b]", "a] b", False),
        ("PW[y]PB[a\\] B[b\\] c]", "a] B[b] c", False),
        ("PW[y]PB[[b\\]C[c\\] d]", "[b]C[c] d", False),
    ],
)
def test_a_backslash_at_the_end_of_a_text(text: str, black: str, repaired: bool) -> None:
    record = read_sgf(f"(;GM[1]{text};B[pd];W[dp])".encode())
    assert (record.black, record.white, len(record.moves)) == (black, "y", 2)
    assert [each.name for each in record.repairs] == ["record.backslash"] * repaired
    assert read_sgf(record.to_sgf().encode()).black == black


def test_a_game_that_is_only_closed() -> None:
    """As 8 of 220 records of professionals on Fox in a public collection; 4 were read from their first variation on."""
    content = "\ufeff;GM[1]FF[4]  SZ[19]PB[柯洁]KM[375]AP[foxwq];B[pd];W[dp](;B[pp])(;B[dd]))".encode()
    record = read_sgf(content)
    assert (record.black, record.komi, len(record.moves)) == ("柯洁", 7.5, 3)
    assert [texts().say(each) for each in record.repairs] == [
        "line 1: the parenthesis that opens the game is missing; the meaning is clear"
    ]
    assert len(split_games(content)) == 1
    for other in (content[:-1], b";B[pd];W[dp])", b";-)"):
        with pytest.raises(SgfError):
            read_sgf(other)


def test_what_is_repaired_is_told_of_its_own_game() -> None:
    file = b"text -- (;-)\n(;KM[1]\n---\n;B[dd] ** ;W[gg])\n--- [x] -- \n(;PB[x];B[dd])\n(;PB[x[1]]\n;C[a] b]*)"
    first, second, third = read_sgf_games(file)
    assert [[texts().say(each) for each in game.repairs] for game in (first, second, third)] == [
        ["line 3: punctuation between the properties was left out"],
        [],
        [BRACKETS.format(7), "line 8: punctuation between the properties was left out"],
    ]
    assert len(first.moves) == 2 and third.main_line[-1].comment == "a] b"
    assert first.copy().repairs == first.repairs


@pytest.mark.parametrize("text", ["KM[5.5] foo ;B[pd]", "C[a [b c]d]e", "B[aa]7;W[bb]", "AB[aa]] x", "C[a] B[pd] b"])
def test_what_has_no_or_several_readings_is_refused(text: str) -> None:
    with pytest.raises(SgfError):
        read_sgf(f"(;SZ[19];{text})".encode())


def in_cyberoro_form(moves: str, handicap: int = 0) -> bytes:
    root = (
        "TE[제1회 시험배] RD[2026-01-02] PC[서울] TM[2시간] LT[60] LC[5] KO[6.5] RE[6수 백불계승] PB[흑돌] BR[9단] "
        f"PW[백돌] WR[9단] HD[{handicap}] GK[1] TC[]"
    ).replace("] ", "]\r\n")
    return f"(\r\n{root}\r\n;{moves})\r\n//AI\r\n1\r\n0,50.0%,50.0%,1,pd\r\n".encode("euc-kr")


def cyberoro(moves: str, handicap: int = 0) -> GameRecord:
    return read_sgf(in_cyberoro_form(moves, handicap))


def test_a_record_of_cyberoro() -> None:
    record = cyberoro("B[pd];W[dp];B[``];W[pp]")
    assert (record.komi, record.date, record.black, record.white_rank) == (6.5, "2026-01-02", "흑돌", "9단")
    assert [vertex(move.point) for move in record.moves] == ["Q16", "D4", "pass", "Q4"]
    assert (shown_result(record.result), record.repairs) == ("W+R", ())


def test_the_board_size_of_cyberoro() -> None:
    assert read("LN[17]").width == 17
    assert read("LN[17]SZ[18]").width == 18 and read("LN[aa:cc]").width == 19


@pytest.mark.parametrize(
    ("count", "stones"), [(2, "D4 Q16"), (3, "D4 Q16 Q4"), (4, "D4 D16 Q16 Q4"), (5, "D4 D16 K10 Q16 Q4"), (30, "")]
)
def test_cyberoro_only_counts_handicap_stones(count: int, stones: str) -> None:
    record = cyberoro("W[dc];B[dp]" if count > 9 else "W[dc]", count)
    assert sorted(map(vertex, record.root.setup)) == sorted(stones.split())
    assert record.handicap == count
    assert not cyberoro("B[pd];W[dp]", count).root.setup  # Black places them as moves
    assert not read_sgf(f"(;HA[{count}];W[dc])".encode()).root.setup


def test_variations_of_cyberoro_are_left_out_and_told() -> None:
    other = "RN[참고도 (1)]PT[2];W[dd];B[pp](;W[cc]C[:)])C[끝];B[qq])"
    content = in_cyberoro_form(f"B[pd]{other}\r\n;W[dp]{other};B[pp]")
    record = read_sgf(content)
    assert [vertex(move.point) for move in record.moves] == ["Q16", "D4", "Q4"] and len(record.main_line) == 4
    said = [texts().say(each) for each in record.repairs]
    assert said == ["line 17: a variation in Cyberoro's own form was left out"]
    assert len(split_games(content)) == 1 and len(read_sgf(split_games(content)[0]).moves) == 3
    assert read("RN[12]").repairs == ()  # Fox
    content = f"(;KM[7];B[pd]RN[1]PT[2];W[dd])\n(;KM[6];B[dd];W[pp]{other}\n)".encode()  # the first by another program
    assert [len(record.moves) for record in read_sgf_games(content)] == [1, 2]
    assert [len(read_sgf(game).moves) for game in split_games(content)] == [1, 2]


def test_a_parenthesis_before_the_last_moves() -> None:
    content = b"(;KM[7];B[dd];W[pp])\n;B[pd];W[dp])\n(;B[aa](;W[bb])(;W[cc]))"
    first, second = read_sgf_games(content)
    assert [len(record.moves) for record in (first, second)] == [4, 2] and second.repairs == ()
    assert [texts().say(each) for each in first.repairs] == [
        "line 1: a parenthesis that closed the game before its last moves was left out"
    ]
    assert [len(read_sgf(game).moves) for game in split_games(content)] == [4, 2]


@pytest.mark.parametrize(
    ("text", "moves", "repairs"),
    [
        ("(;KM[7];B[aa](;W[bb])(;W[cc]));B[dd])", 2, 0),
        ("(;KM[7];B[aa]\n(;W[bb]\n)\n(;W[cc]\n)\n)\n;B[dd])", 2, 0),
        ("(;KM[7];B[aa]);W[bb](;B[cc])(;B[dd]))", 3, 1),
        ("(;KM[7];B[aa]);N[)]W[bb])", 1, 0),
    ],
)
def test_a_parenthesis_after_variations_closes_the_game(text: str, moves: int, repairs: int) -> None:
    """No node may follow variations: such a game is complete, and what comes after it is none of its moves."""
    record = read_sgf(text.encode())
    assert (len(record.moves), len(record.repairs)) == (moves, repairs)
    assert [len(read_sgf(game).moves) for game in split_games(text.encode())] == [moves]
