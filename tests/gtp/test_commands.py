"""Commands that need no search, asked of the real program."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conversation import Conversation

# Commands by the text with which they are refused, after Black has played C3.
FAILURES = {
    "unknown command": "foo; NAME",
    "syntax error": (
        "known_command; boardsize; boardsize nine; boardsize 9 9 9; komi; komi much; komi nan; komi 1e999; "
        "komi 1_0; play b; play d4 b; play green d4; play b i5; play b d; play b resign; gg-undo x; "
        "set_position b; gogui-setup_player x; time_settings 1 2; time_settings a b c; "
        "kgs-time_settings fischer 10 2; kgs-time_settings byoyomi 10; kata-time_settings sundial 10; "
        "time_left b soon 0; genmove; genmove x; reg_genmove; final_status_list asleep; lz-analyze foo; "
        "lz-analyze b 10 ownership true; kata-analyze interval; kata-analyze b -5; kata-analyze ownership maybe; "
        "kata-analyze avoid b d4; kata-analyze avoid b d4,i5 3; kata-analyze allow b d4 1 avoid b e5 1; "
        "kata-analyze avoid w d4 1 allow b d4 1 allow w e5 1; kata-analyze allow b d4 1 allow b e5 1; "
        "kata-analyze maxmoves -1; kata-genmove_analyze b interval x; loadsgf; kata-set-rule ko; "
        "kata-set-params [1]; kata-set-params {"
    ),
    "unacceptable size": "boardsize 1; boardsize 26; boardsize -9; boardsize 9 99",
    "illegal move": (
        "play b k5; play w d10; play w c3; set_position b d4 w d4; set_position b a1 w a2 w b1; "
        "set_position b pass; gogui-play_sequence b e5 w e5"
    ),
    "cannot undo": "gg-undo 3",
    "board not empty": "fixed_handicap 2; place_free_handicap 2; set_free_handicap d4 e5; gogui-setup b e5",
    "cannot load file": "loadsgf no_such_file.sgf; loadsgf .",
    "cannot write file": "printsgf no_such_folder/game.sgf",
}


def state(engine: Conversation) -> list[str]:
    questions = ("showboard", "get_komi", "kata-get-rules", "kata-get-params", "printsgf")
    return [engine.ask(question) for question in questions]


@pytest.mark.parametrize("text", FAILURES)
def test_failure(engine: Conversation, text: str) -> None:
    engine.ask("play b C3")
    before = state(engine)
    for command in FAILURES[text].split("; "):
        assert engine.fail(command) == text, command
        assert state(engine) == before, command


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("kata-set-rules kyu", "kyu"),
        ('kata-set-rules {"ko":"TRIPLE"}', "TRIPLE"),
        ("kata-set-rules {]", "JSON"),
        ("kata-set-rule ko TRIPLE", "TRIPLE"),
        ("kata-set-rule eyes 2", "eyes"),
        ("kgs-rules kyu", "kyu"),
        ("kata-set-param no_such_parameter 1", "no_such_parameter"),
        ("kata-set-param c_puct high", "high"),
        ("kata-get-param no_such_parameter", "no_such_parameter"),
        ("kata-get-param xyz", "visits, seconds, rank, selection, c_puct"),
        ("kata-get-param visit", "unknown parameter 'visit': did you mean 'visits'?"),
        ("kata-set-param maxvisits 3", "unknown parameter 'maxvisits': did you mean 'maxVisits' or 'visits'?"),
        ("kata-set-param cpuctExploratoin 1", "cpuctExploration"),
        ("gtp_engine-param c_puct", "invalid c_puct ''"),
        ("gtp_engine-param no_such_parameter", "no_such_parameter"),
        ('kata-set-params {"c_puct":2,"fpu_reduction":"x"}', "fpu_reduction"),
    ],
)
def test_failure_names_the_bad_value(engine: Conversation, command: str, named: str) -> None:
    before = state(engine)
    assert named in engine.fail(command)
    assert state(engine) == before


@pytest.mark.parametrize(
    ("command", "detail"),
    [
        ("boardsize nine", "boardsize: expected a whole number, got 'nine'"),
        ("place_free_handicap 2.0", "place_free_handicap: expected a whole number, got '2.0'"),
        ("gg-undo -7", "gg-undo: expected a whole number from 0 to 2147483647, got '-7'"),
        ("kata-set-rules", "kata-set-rules: expected the name of a ruleset or a JSON object"),
        ("set_position b D4 w pass", "set_position: a pass cannot be set up"),
        ("loadsgf no_such_file.sgf", "loadsgf: no_such_file.sgf: No such file or directory"),
        ("printsgf no_such_folder/a.sgf", "printsgf: no_such_folder/a.sgf: No such file or directory"),
        ("set_position b", "set_position: expected pairs of colour and vertex, got 1 word"),
        ("gogui-setup w PASS", "gogui-setup: a pass cannot be set up"),
    ],
)
def test_log_says_what_a_fixed_error_text_does_not(engine: Conversation, command: str, detail: str) -> None:
    engine.fail(command)
    assert engine.log().splitlines()[-1] == f"gtp_engine: {detail}"


def test_about_the_program(engine: Conversation) -> None:
    assert engine.ask("name") == "gtp_engine"
    assert engine.ask("protocol_version") == "2"
    # Lizzie reads the second part as a number and wants 15 or more.
    assert int(engine.ask("version").split(".")[1]) >= 15
    assert engine.ask("known_command genmove") == "true"
    assert engine.ask("known_command Genmove") == "false"
    assert engine.ask("cputime").replace(".", "").isdecimal()


def test_list_of_commands(engine: Conversation) -> None:
    names = engine.ask("list_commands").split("\n")
    assert names[0] == "protocol_version"  # by which LizzieYzy recognises the list
    assert len(names) == len(set(names)) and {"genmove", "rectangular_boardsize", "cgos-gameover"} < set(names)
    assert not {"analyze", "genmove_analyze"} & set(names)  # Sabaki takes these for another form
    assert not [name for name in names if name.startswith("gogui-rules_")]  # GoGui would take the engine for a ruler
    for name in names:
        assert engine.ask(f"known_command {name}") == "true"


def test_ids_and_line_ends(engine: Conversation) -> None:
    engine.send("0 name", "2147483647 name", b"5 na\x00me\r", b"\t6\tname\t# what?")
    engine.send("", "# a comment", b"\r", "7", "8 foo")
    answers = [engine.response() for _ in range(6)]
    assert answers[:4] == ["=0 gtp_engine", "=2147483647 gtp_engine", "=5 gtp_engine", "=6 gtp_engine"]
    assert answers[4:] == ["?7 unknown command", "?8 unknown command"]


def test_pipelined_commands_are_answered_in_order(engine: Conversation) -> None:
    engine.send(*(f"{number} known_command {'play' if number % 3 else 'x'}" for number in range(1000)))
    for number in range(1000):
        assert engine.response() == f"={number} {'true' if number % 3 else 'false'}"


def test_replay_at_once(engine: Conversation) -> None:
    moves = [f"play {'BW'[number % 2]} {'ABCDEFGHJ'[number % 9]}{number // 9 + 1}" for number in range(40)]
    engine.send("clear_board", *moves, *["undo"] * 40, "undo")
    assert [engine.response() for _ in range(81)] == ["="] * 81
    assert engine.response() == "? cannot undo"


def test_komi_is_never_refused_and_stays(engine: Conversation) -> None:
    for komi in ("0", "0.0", "-5", "7", "6.5", "3.75", "+0.5", "1e2", "361", "-1e200", "12345.75"):
        engine.ask(f"komi {komi}")
        engine.ask("boardsize 7")
        engine.ask("clear_board")
        assert float(engine.ask("get_komi")) == float(komi)
        engine.ask("genmove b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_to_which_nobody_writes_is_not_loaded(engine: Conversation, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        assert engine.fail(f"loadsgf {path}") == "cannot load file"


def test_a_record_without_komi_takes_the_usual_one_of_its_board(
    start: Callable[..., Conversation], tmp_path: Path
) -> None:
    path = tmp_path / "nine.sgf"
    path.write_text("(;SZ[9];B[aa])")
    fresh = start()
    fresh.ask(f"loadsgf {path}")
    assert fresh.ask("get_komi") == "7"


def test_board_can_be_read(engine: Conversation) -> None:
    engine.ask("play b D4")
    engine.send("showboard")
    lines = [engine.line() for _ in range(13)]
    assert lines[0] == "=" and lines[1] == "   A B C D E F G H J" and lines[7] == " 4 . . .(X). . . . . 4"
    assert lines[12] == "" or engine.line() == ""


def test_oblong_boards(engine: Conversation) -> None:
    for command in ("boardsize 13 7", "rectangular_boardsize 13 7"):
        engine.ask(command)
        engine.ask("play b N7")
        assert engine.fail("play w A8") == "illegal move"
        assert engine.fail("play w O1") == "illegal move"
        assert "SZ[13:7]" in engine.ask("printsgf")
        assert engine.ask("genmove w")


def test_play_is_lenient(engine: Conversation) -> None:
    """Colours and vertices in any case, and players in any order."""
    for move in ("B d4", "black e5", "White E6", "w PASS", "BLACK f1", "b Pass", "w pass", "w C1", "w D1"):
        engine.ask(f"play {move}")


def test_capture_ko_and_suicide(engine: Conversation) -> None:
    for move in ("b B1", "b A2", "b C2", "b B3", "w C1", "w D2", "w C3"):
        engine.ask(f"play {move}")
    assert engine.fail("play w A1") == "illegal move"  # suicide
    engine.ask("play w B2")  # takes nothing: C2 has been left a liberty or is taken
    engine.ask("undo")
    assert engine.fail("play b C2") == "illegal move"
    engine.ask("clear_board")
    for move in ("b B2", "b A1", "b C1", "w C2", "w D1", "w B1"):
        engine.ask(f"play {move}")
    assert engine.fail("play b C1") == "illegal move"  # retakes the ko
    engine.ask("undo")
    engine.ask("play b B1")


def test_set_up_stones_in_any_order(engine: Conversation) -> None:
    stones = ("W E5", "B D5", "B F5", "W C3", "B E4", "W G7", "W G6", "B E6")
    for stone in stones:  # the last one captures
        engine.ask(f"play {stone}")
    board = engine.ask("showboard")
    assert board.count("X") >= 4 and board.count("O") >= 3


def test_set_position(engine: Conversation) -> None:
    engine.ask("set_position b D4 w E5 b F6 w A1")
    assert engine.fail("undo") == "cannot undo"
    engine.ask("play w B2")
    engine.ask("set_position")
    assert "X" not in engine.ask("showboard").replace("(X)", "", 1)


def test_gogui_setup(engine: Conversation) -> None:
    engine.ask("gogui-setup b D4 w E5")
    engine.ask("gogui-setup_player w")
    assert "White (O) to move" in engine.ask("showboard")
    engine.ask("gogui-play_sequence w D5 b E4")
    engine.ask("gg-undo 2")
    assert engine.fail("undo") == "cannot undo"


@pytest.mark.parametrize(
    ("size", "stones"),
    [
        ("9", "C3 G7 C7 G3 C5 G5 E3 E7 E5"),
        ("13", "D4 K10 D10 K4 D7 K7 G4 G10 G7"),
        ("19", "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
    ],
)
def test_fixed_handicap(engine: Conversation, size: str, stones: str) -> None:
    table = stones.split()
    engine.ask(f"boardsize {size}")
    for count in range(2, 10):
        expected = [*table[: count - 1], table[8]] if count in (5, 7) else table[:count]
        assert set(engine.ask(f"fixed_handicap {count}").split()) == set(expected)
        assert "White (O) to move" in engine.ask("showboard")
        assert engine.fail("fixed_handicap 2") == "board not empty"
        assert engine.fail("undo") == "cannot undo"
        engine.ask("clear_board")
    for count in (-1, 0, 1, 10):
        assert engine.fail(f"fixed_handicap {count}") == "invalid number of stones"


@pytest.mark.parametrize(("size", "most"), [("6", 0), ("7", 4), ("8", 4), ("10 13", 4), ("11 9", 9)])
def test_most_fixed_handicap(engine: Conversation, size: str, most: int) -> None:
    engine.ask(f"boardsize {size}")
    assert engine.fail(f"fixed_handicap {most + 1}") == "invalid number of stones"
    if most:
        assert len(engine.ask(f"fixed_handicap {most}").split()) == most


def test_free_handicap(engine: Conversation) -> None:
    for count in (2, 5, 9, 20):
        stones = engine.ask(f"place_free_handicap {count}").split()
        assert len(set(stones)) == count
        engine.ask("clear_board")
        engine.ask("set_free_handicap " + " ".join(stones).lower())
        assert f"HA[{count}]" in engine.ask("printsgf")
        engine.ask("clear_board")
    for stones in ("D4", "D4 d4", "D4 pass", "D4 K10"):
        assert engine.fail(f"set_free_handicap {stones}") == "bad vertex list"
    assert engine.fail("set_free_handicap D4 I5") == "syntax error"
    assert engine.fail("place_free_handicap 1") == "invalid number of stones"
    assert engine.fail("place_free_handicap 81") == "invalid number of stones"


def test_rules(engine: Conversation) -> None:
    rules = {"friendlyPassOk": True, "hasButton": False, "ko": "SIMPLE", "scoring": "AREA", "suicide": False}
    assert json.loads(engine.ask("kata-get-rules")) == rules | {"tax": "NONE", "whiteHandicapBonus": "N"}
    engine.ask('kata-set-rules {"ko": "SITUATIONAL", "scoring":"TERRITORY", "tax": "ALL"}')
    rules = json.loads(engine.ask("kata-get-rules"))
    assert (rules["ko"], rules["scoring"], rules["tax"]) == ("SITUATIONAL", "TERRITORY", "ALL")
    engine.ask("kata-set-rule suicide true")
    assert json.loads(engine.ask("kata-get-rules"))["suicide"] is True
    engine.ask("kgs-rules chinese")
    assert json.loads(engine.ask("kata-get-rules"))["ko"] == "POSITIONAL"
    engine.ask("kgs-rules new_zealand")
    for name in ("tromp-taylor", "chinese-ogs", "japanese", "korean", "aga", "bga", "aga-button", "stone-scoring"):
        engine.ask(f"kata-set-rules {name}")


def test_suicide_by_the_rules(engine: Conversation) -> None:
    engine.ask("kata-set-rules tromp-taylor")
    for move in ("b A1", "w A3", "w B2", "w C1", "b B1"):
        engine.ask(f"play {move}")
    engine.ask("play b A2")
    assert "X" not in engine.ask("showboard").partition("Black")[0].replace("(X)", "")


def test_parameters(engine: Conversation) -> None:
    names = engine.ask("kata-list-params").split()
    values = json.loads(engine.ask("kata-get-params"))
    assert set(names) == set(values)
    for name in names:
        engine.ask(f"kata-get-param {name}")
    engine.ask("kata-set-param maxVisits 25")
    assert engine.ask("kata-get-param visits") == "25"
    old = values["c_puct"]
    engine.ask('kata-set-params {"c_puct": 1.75, "reuse_tree": false, "maxTime": 3}')
    assert engine.ask("kata-get-param cpuctExploration") == "1.75"
    assert engine.ask("kata-get-param reuse_tree") == "false"
    assert "[bool] reuse_tree 0" in engine.ask("gtp_engine-param").split("\n")
    engine.ask("gtp_engine-param reuse_tree 1")
    engine.ask(f"kata-set-param c_puct {old}")
    engine.ask("kata-set-param maxTime none")
    engine.ask("kata-set-param rank 12k")
    assert engine.ask("kata-get-param rank") == "12k"
    assert "[string] rank 12k" in engine.ask("gtp_engine-param").split("\n")
    engine.ask('kata-set-params {"rank": "3d"}')
    assert json.loads(engine.ask("kata-get-params"))["rank"] == "3d"
    engine.ask("kata-set-param rank none")
    engine.ask("kata-set-param analysisWideRootNoise 0.04")  # as LizzieYzy does
    assert engine.ask("kata-get-param analysisWideRootNoise") == "0.04"
    engine.ask("kata-set-param analysisWideRootNoise 0")
    now = engine.ask("kata-get-params")
    engine.ask("kata-set-param visits 7")
    engine.ask(f"kata-set-params {now}")
    assert engine.ask("kata-get-params") == now


def test_time_commands(engine: Conversation) -> None:
    assert engine.ask("kata-list_time_settings") == "none absolute byoyomi canadian fischer fischer-capped"
    for numbers in ("0 1 0", "0 0 0", "300 0 0", "0 5 1", "60 30 5"):
        engine.ask(f"time_settings {numbers}")
    for numbers in ("b 20 3", "w -1 0"):
        engine.ask(f"time_left {numbers}")
    for system in ("none", "absolute 300", "byoyomi 300 30 5", "canadian 300 30 5"):
        engine.ask(f"kgs-time_settings {system}")
    for system in ("fischer 30.5 2.5", "fischer-capped 30 2 60 -1"):
        engine.ask(f"kata-time_settings {system}")
    engine.ask("time_left black 12 0")
    for numbers in ("-1 0 0", "-1 -1 -1", "-1 30 -1"):  # no clock: otherwise the move would take a fifth of a second
        engine.ask("time_settings 0 0 0")
        engine.ask(f"time_settings {numbers}")


def test_the_clock_is_set_when_the_engine_is_loaded(start: Callable[..., Conversation]) -> None:
    """Loading would take the time of the first move otherwise."""
    loaded = "b4c32-9x9: cpu"
    engine = start("--network", "b4c32-9x9", "-v")
    engine.ask("protocol_version")
    before = engine.log()
    engine.ask("time_settings 10 0 0")
    assert loaded not in before and loaded in engine.log()


def test_records(engine: Conversation, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;FF[4]GM[1]SZ[9]KM[5.5]RU[Japanese]AB[cc][gg]PL[W];W[ee];B[ec];W[tt];B[gc])")
    engine.ask(f"loadsgf {path}")
    assert engine.ask("get_komi") == "5.5"
    assert "move 4: B G7" in engine.ask("showboard")
    engine.ask(f"loadsgf {path} 1")
    assert engine.fail("undo") == "cannot undo"
    engine.ask(f"loadsgf {path} 3")
    assert "move 2: B E7" in engine.ask("showboard")
    assert engine.ask("printsgf") == engine.ask("printsgf -")
    copy = tmp_path / "copy.sgf"
    engine.ask(f"printsgf {copy}")
    before = copy.read_bytes()
    assert engine.fail(f"printsgf {copy}") == "cannot write file"  # nothing is overwritten
    assert copy.read_bytes() == before
    engine.ask(f"loadsgf {copy}")
    assert "move 2: B E7" in engine.ask("showboard")


def test_record_without_komi_and_rules(engine: Conversation, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[5];B[cc])")
    engine.ask("komi 3.5")
    engine.ask("kata-set-rules aga")
    rules = engine.ask("kata-get-rules")
    engine.ask(f"loadsgf {path}")
    assert (engine.ask("get_komi"), engine.ask("kata-get-rules")) == ("3.5", rules)
    assert f"{path}: the record names no rules: judged by AGA rules" in engine.log()
    assert f"{path}: the record has no komi: it is taken as 3.5" in engine.log()
    path.write_text("(;SZ[5]RU[JP]KM[];B[cc])")
    engine.ask(f"loadsgf {path}")
    assert engine.ask("get_komi") == "6" and '"scoring":"TERRITORY"' in engine.ask("kata-get-rules")


def test_broken_record(engine: Conversation, tmp_path: Path) -> None:
    path = tmp_path / "broken.sgf"
    for content in (b"", b"no game", b"(;SZ[9];B[ee];W[ee])", b"(;SZ[99])", b"\x00\xff" * 100):
        path.write_bytes(content)
        before = state(engine)
        assert engine.fail(f"loadsgf {path}") == "cannot load file"
        assert state(engine) == before
    assert str(path) in engine.log()  # stderr explains what is wrong with it


def test_news_from_servers(engine: Conversation) -> None:
    for command in ("cgos-opponent_name Some One", "cgos-opponent_rating 2345", "cgos-gameover 2026-01-01 W+Resign"):
        assert engine.ask(command) == ""
    assert engine.ask("kgs-chat private somebody hello there")


@pytest.mark.slow
def test_ten_thousand_commands_at_once(start: Callable[..., Conversation]) -> None:
    engine = start("--visits", "2", "--threads", "1")
    engine.ask("boardsize 5")
    cycle = ("genmove b", "genmove w", "undo", "kata-analyze 1", "clear_board", "known_command play", "foo", "komi 3")
    engine.send(*(f"{number} {cycle[number % len(cycle)]}" for number in range(10_000)))
    for number in range(10_000):
        sign = "?" if number % len(cycle) == 6 else "="
        assert engine.response().split("\n")[0].split(" ")[0] == f"{sign}{number}"


def test_parameters_with_choices_are_menus_in_gogui(engine: Conversation) -> None:
    lines = engine.ask("gtp_engine-param").split("\n")
    assert "[list/puct/uct] selection puct" in lines
    assert "[list/visits/lcb] choice lcb" in lines
    assert "[list/none/random/average] symmetry none" in lines
    engine.ask("gtp_engine-param choice visits")
    assert "[list/visits/lcb] choice visits" in engine.ask("gtp_engine-param").split("\n")
    engine.ask("gtp_engine-param choice lcb")


def test_it_answers_with_another_name(start: Callable[..., Conversation]) -> None:
    engine = start("--name", "KataGo", "--version-as", "1.16.0")
    assert (engine.ask("name"), engine.ask("version")) == ("KataGo", "1.16.0")
    assert start().ask("name") == "gtp_engine"


def test_gtp_solves(start: Callable[..., Conversation]) -> None:
    conversation = start("--network", "none", "--threads", "1")
    conversation.ask("boardsize 7")
    for vertices, colour in (("E7 E6 E5 D5 C5 B5 A5", "b"), ("D7 D6 C6 B6 A6", "w")):
        for vertex in vertices.split():
            conversation.ask(f"play {colour} {vertex}")
    assert "  Black to move: it dies with B7; B7 A7 C7" in conversation.ask("gtp_engine-solve D7 5")
    assert conversation.fail("gtp_engine-solve A1") == "no stone at A1"
    assert conversation.fail("gtp_engine-solve H9 1") == "invalid vertex"


def test_gtp_says_what_the_network_thinks_of_a_group_that_is_not_solved(start: Callable[..., Conversation]) -> None:
    for network, lines in (("none", 0), ("b6c64-19x19", 1)):
        conversation = start("--network", network, "--threads", "1")
        conversation.ask("boardsize 9")
        conversation.ask("play b E5")
        found = conversation.ask("gtp_engine-solve E5 0.1").splitlines()
        assert found[0] == "Black's 1 stone at E5: not solved"
        assert sum("The network " in line for line in found) == lines
