"""Analysis and move generation of the real program, as GUIs ask for it."""

import json
import re

import pytest
from conversation import Conversation

from gtp_engine.go.coords import parse_vertex

MOVE = re.compile(r"info move (\S+) visits (\d+) (.*?) order (\d+) pv ((?:[A-HJ-Z]\d+ ?|pass ?)+)")
FLOAT = re.compile(r"-?\d+\.\d+")


def stream(engine: Conversation, command: str, lines: int, end: str = "protocol_version") -> list[str]:
    """The first lines of an analysis, which `end` then stops."""
    engine.send(command)
    assert engine.line() == "="
    found = [engine.line() or "" for _ in range(lines)]
    engine.send(end)
    while line := engine.line():
        found.append(line)
    return found


def numbers(line: str, key: str) -> list[float]:
    """The values that follow a key up to the next word."""
    words = line.split(f" {key} ", 1)[1].split()
    values = []
    for word in words:
        if not FLOAT.fullmatch(word):
            break
        values.append(float(word))
    return values


def is_move(text: str, width: int = 9, height: int = 9) -> bool:
    """Whether it is a vertex of the board, in upper case, or a pass."""
    parse_vertex(text, width, height)
    return text == "pass" or text == text.upper()


@pytest.mark.parametrize(
    "arguments", ["5", "b 5", "w 5", "w interval 5", "interval 5 minmoves 3", "black 5 maxmoves 4"]
)
@pytest.mark.parametrize("command", ["lz-analyze", "kata-analyze"])
def test_every_way_to_ask(engine: Conversation, command: str, arguments: str) -> None:
    lines = stream(engine, f"{command} {arguments}", 2)
    assert engine.response() == "= 2"
    for line in lines:
        moves = MOVE.findall(line)
        assert 0 < len(moves) == line.count("info move")
        assert [int(order) for *_, order, _ in moves] == list(range(len(moves)))
        assert all(is_move(move) and line.split()[0] == move for move, *_, line in moves)
        assert "maxmoves" not in arguments or len(moves) <= 4
        values = [word for _, _, rest, *_ in moves for word in rest.split()[1::2]]
        pattern = re.compile(r"\d+") if command == "lz-analyze" else re.compile(r"-?\d+(\.\d+)?")
        assert all(pattern.fullmatch(word) for word in values)
        winrates = re.findall(r"winrate (\S+)", line)
        assert winrates and all(("." in text) == (command == "kata-analyze") for text in winrates)


def test_without_interval_there_is_no_report(engine: Conversation) -> None:
    engine.send("12 lz-analyze", "13 name")
    assert [engine.line() for _ in range(4)] == ["=12", "", "=13 gtp_engine", ""]


@pytest.mark.parametrize("end", ["", "# comment", "name", "stop"])
def test_any_line_ends_it(engine: Conversation, end: str) -> None:
    stream(engine, "kata-analyze 5", 1, end)
    if end in ("name", "stop"):
        engine.response()
    assert engine.ask("protocol_version") == "2"


def test_a_line_that_waits_already_ends_it(engine: Conversation) -> None:
    engine.send("kata-analyze 1", "1 name", "kata-analyze 1", "2 name")
    responses = [engine.response() for _ in range(4)]
    assert [response.split("\n")[0] for response in responses] == ["=", "=1 gtp_engine", "=", "=2 gtp_engine"]


def test_searches_leave_the_game_alone(engine: Conversation) -> None:
    engine.ask("play b E5")
    before = engine.ask("showboard")
    stream(engine, "kata-analyze b 5", 2)
    engine.response()
    assert is_move(engine.ask("reg_genmove w"))
    assert engine.ask("showboard") == before


def test_all_of_katagos_options(engine: Conversation) -> None:
    engine.ask("boardsize 7 5")
    options = "rootInfo ownership ownershipStdev movesOwnership movesOwnershipStdev pvVisits pvEdgeVisits noResultValue"
    command = "kata-analyze b 5 " + " ".join(f"{option} true" for option in options.split())
    line = stream(engine, command, 1)[0]
    engine.response()
    top, _, rest = line.partition(" rootInfo ")
    moves = top.split("info move ")[1:]
    assert moves
    for move in moves:
        variation = re.search(r" pv ((?:[A-HJ-Z]\d+ |pass )+)pvVisits ((?:\d+ )+)pvEdgeVisits ((?:\d+ )+)", move)
        assert variation is not None
        assert len(variation[1].split()) == len(variation[2].split()) == len(variation[3].split())
        assert " noResultValue 0.0 " in move
        assert len(numbers(move, "movesOwnership")) == 35
    assert re.match(r"visits \d+ utility -?\d+\.\d+ winrate \d\.\d+ scoreMean ", rest)
    assert len(numbers(line, "ownership")) == len(numbers(line, "ownershipStdev")) == 35
    assert all(-1 <= value <= 1 for value in numbers(line, "ownership"))
    assert all(0 <= value <= 1 for value in numbers(line, "ownershipStdev"))


def test_side_to_move_is_the_colour_named(engine: Conversation) -> None:
    """White has the whole board but for two black stones."""
    engine.ask("boardsize 5")
    engine.ask("set_position w B1 w B2 w B3 w B4 w B5 w D1 w D2 w D3 w D4 w D5 w A2 w E2 w A4 w E4")
    for colour, low, high in (("b", 0.0, 0.3), ("w", 0.7, 1.0)):
        line = stream(engine, f"kata-analyze {colour} 10 rootInfo true ownership true", 3)[-1]
        engine.response()
        winrate = float(line.split(" rootInfo ")[1].split(" winrate ")[1].split()[0])
        assert low <= winrate <= high
        assert (sum(numbers(line, "ownership")) > 0) == (colour == "w")


def test_minmoves_shows_moves_without_visits(engine: Conversation) -> None:
    line = stream(engine, "lz-analyze 1 minmoves 60", 1)[0]
    engine.response()
    assert line.count("info move") >= 60


def test_maxmoves_0_shows_nothing(engine: Conversation) -> None:
    engine.send("kata-genmove_analyze b 1 maxmoves 0 rootInfo true")
    lines = engine.response().split("\n")
    assert lines[0] == "=" and [line.split()[0] for line in lines[1:]] == ["play"]


def test_allowed_and_avoided_moves(engine: Conversation) -> None:
    engine.ask("clear_cache")
    for arguments, allowed in (("allow b E5,D4,pass 1", {"E5", "D4", "pass"}), ("allow w E5 1 interval 5", None)):
        line = stream(engine, f"kata-analyze b 5 {arguments}", 3)[-1]
        engine.response()
        moves = {move for move, *_ in MOVE.findall(line)}
        assert moves and (allowed is None or moves <= allowed)
    engine.ask("clear_cache")
    # As LizzieYzy asks for one point only, with KataGo's empty parts of a list.
    for arguments in ("allow b D4 1 allow w D4 1", "allow b D4, 1 avoid w C3 1"):
        line = stream(engine, f"kata-analyze b 5 {arguments}", 3)[-1]
        engine.response()
        assert {move for move, *_ in MOVE.findall(line)} == {"D4"}
    engine.ask("clear_cache")
    line = stream(engine, "kata-analyze b 5 avoid b E5,D4 99999 avoid w C3 1", 3)[-1]
    engine.response()
    assert not {"E5", "D4"} & {move for move, *_ in MOVE.findall(line)}


@pytest.mark.parametrize("command", ["kata-analyze b 10000", "lz-analyze 10000"])
def test_an_analysis_that_is_stopped_before_its_first_report_sends_one(engine: Conversation, command: str) -> None:
    engine.ask("kata-search b")  # it is ready then
    engine.send(command, "stop")
    header, line, *others = engine.response().split("\n")
    assert header == "=" and line.startswith("info move ") and not others
    assert engine.response().strip() == "="


@pytest.mark.parametrize("command", ["lz-genmove_analyze b 10", "kata-genmove_analyze b", "kata-genmove_analyze b 5"])
def test_genmove_with_analysis(engine: Conversation, command: str) -> None:
    engine.send(f"3 {command}")
    lines = engine.response().split("\n")
    assert lines[0] == "=3"
    assert lines[1:-1] and all(line.startswith("info move ") for line in lines[1:-1])
    play, move = lines[-1].split(" ")
    assert play == "play" and is_move(move)
    assert f"B {move}" in engine.ask("showboard")


def test_katagos_searches_play_nothing(engine: Conversation) -> None:
    assert is_move(engine.ask("kata-search b"))
    assert is_move(engine.ask("kata-search_cancellable w"))
    for command in ("kata-search_analyze b 5", "kata-search_analyze_cancellable w"):
        engine.ask("clear_cache")
        engine.send(command)
        *lines, last = engine.response().split("\n")
        play, move = last.split(" ")
        assert lines[1].startswith("info move ") and play == "play" and is_move(move)
    assert "move " not in engine.ask("showboard")


def test_any_line_cancels_a_search_that_allows_it(engine: Conversation) -> None:
    engine.ask("kata-set-param maxVisits 100000000")
    for command, answer in (
        ("kata-search_cancellable b", "= cancelled"),
        ("kata-search_analyze_cancellable b 50", "="),
    ):
        engine.send(command, "")
        lines = engine.response().split("\n")
        assert lines[0] == answer and (answer != "=" or lines[-1] == "play cancelled")
    assert "move " not in engine.ask("showboard")


def test_genmove_for_cgos(engine: Conversation) -> None:
    *lines, play = engine.ask("cgos-genmove_analyze b").strip("\n").split("\n")
    info = json.loads(lines[-1])
    assert 0 <= info["winrate"] <= 1 and info["visits"] > 0
    assert len(info["ownership"]) == 81
    assert info["moves"][0]["move"] == play.removeprefix("play ")


def test_genmove(engine: Conversation) -> None:
    for colour in ("b", "w", "w", "BLACK"):
        assert is_move(engine.ask(f"genmove {colour}"))
    assert "move 4: B" in engine.ask("showboard")
    for _ in range(4):
        engine.ask("undo")
    assert engine.fail("undo") == "cannot undo"


def test_genmove_after_two_passes(engine: Conversation) -> None:
    for move in ("b E5", "w E6", "b pass", "w pass"):
        engine.ask(f"play {move}")
    assert is_move(engine.ask("genmove b"))
    assert is_move(engine.ask("genmove w"))
    assert is_move(engine.ask("kgs-genmove_cleanup b"))


def test_score(engine: Conversation) -> None:
    engine.ask("kata-set-rules tromp-taylor")  # without compensation for stones of the start
    engine.ask("boardsize 5")
    for komi, score in (("0.5", "B+24.5"), ("25", "0"), ("30", "W+5")):
        engine.ask("set_position b A2 b B2 b C2 b D2 b E2 b B4 b D4")
        engine.ask(f"komi {komi}")
        assert engine.ask("final_score") == score
    alive = engine.ask("final_status_list alive").split("\n")
    assert {"A2", "B4", "D4"} <= {vertex for group in alive for vertex in group.split(" ")}
    assert "A2 B2 C2 D2 E2" in alive or len(alive) == 3
    assert engine.ask("final_status_list dead") == ""
    assert engine.ask("final_status_list seki") == ""


def test_dead_stone(engine: Conversation) -> None:
    engine.ask("boardsize 7")
    wall = " ".join(f"b {column}{row}" for row in (3, 5) for column in "ABCDEFG")
    engine.ask(f"set_position {wall} w D1")
    before = engine.ask("showboard")
    assert engine.ask("final_status_list dead") == "D1"
    assert engine.ask("showboard") == before


def test_gogui_analyze_commands(engine: Conversation) -> None:
    listed = [line.split("/") for line in engine.ask("gogui-analyze_commands").split("\n")]
    names = {command.split()[0] for *_, command in listed}
    assert names <= set(engine.ask("list_commands").split("\n"))
    engine.ask("play b E5")
    engine.ask("genmove w")
    for kind, _, command in listed:
        text = engine.ask(command)
        if kind == "dboard":
            rows = text.strip("\n").split("\n")
            assert [len(row.split()) for row in rows] == [9] * 9
            assert all(-1 <= float(cell) <= 1 for row in rows for cell in row.split())
        else:
            assert text or command.startswith("final_status_list")


def test_the_last_search_must_have_been(engine: Conversation) -> None:
    assert engine.fail("gtp_engine-last_search") == "nothing searched yet"
