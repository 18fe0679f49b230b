"""The games of a session: begun, opened from records, resumed and saved."""

import base64
import datetime
import re
from pathlib import Path
from typing import Any

import pytest
from web.conftest import FROM_HERE, NEW, RECORD, Desk

from gtp_engine.base.errors import UserError
from gtp_engine.base.languages.texts import LANGUAGES, texts
from gtp_engine.clients.web.server import new_session
from gtp_engine.engine.engine import Engine, EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, read_sgf, write_sgf
from gtp_engine.table.game_clock import GameClock
from gtp_engine.table.saved_games import open_game, open_tree


def test_a_new_game_keeps_the_one_before(desk: Desk, tmp_path: Path) -> None:
    desk.play_and_wait("C3")
    desk.send("new", **NEW)
    assert desk.state["task"]["kind"] == "move"  # the engine is Black
    desk.wait()
    state = desk.state
    assert (state["width"], state["rules"], state["rank"], state["komi"]) == (7, "japanese", "20k", 7.0)
    assert state["moves"] == 1 and state["humans"] == ["white"]
    assert len(list(tmp_path.glob("*.sgf"))) == 2


def test_a_change_is_shown_before_it_is_saved_and_closing_saves_it(desk: Desk, tmp_path: Path) -> None:
    desk.played.play("C3")
    desk.session.changed()
    assert desk.state["moves"] == 1 and desk.state["file"] is None and desk.played.is_unsaved
    assert list(tmp_path.glob("*.sgf")) == []
    desk.wait()  # for the engine's move: one save keeps both
    file = desk.saved()
    assert desk.state["file"] == file.name and len(read_sgf(file).moves) == 2
    desk.played.humans = frozenset((BLACK, WHITE))
    desk.played.play("A1")
    assert len(read_sgf(file).moves) == 2
    desk.session.close()
    assert len(read_sgf(file).moves) == 3 and not desk.played.is_unsaved


def test_an_analysis_ends_with_its_game(desk: Desk) -> None:
    for begin in (lambda: desk.send("new", **NEW | {"colour": "black"}), lambda: desk.send("branch", **FROM_HERE)):
        desk.send("analyse", visits=100_000)
        assert desk.state["analysisVisits"] == 100_000
        begin()
        assert desk.state["analysisVisits"] is None and desk.state["report"] is None and desk.state["task"] is None


def listed(desk: Desk) -> list[dict[str, Any]]:
    """The user's games."""
    answer = desk.send("games")
    assert answer is not None
    return [*answer["games"]]


def test_a_saved_game_is_resumed_by_its_name(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.play_and_wait("C3")
    assert listed(desk) == []  # the present one is not offered
    file = desk.saved()
    monkeypatch.chdir(tmp_path)
    desk.played.load(open_game(Path(file.name)))
    assert listed(desk) == []  # by whatever path it was opened
    desk.send("new", **{**NEW, "colour": "black"})
    when = datetime.datetime.fromtimestamp(file.stat().st_mtime).isoformat(timespec="minutes")
    game = {"name": file.stem, "width": 5, "height": 5, "own": "black", "opponent": "max", "moves": 2, "day": when}
    (found,) = listed(desk)
    assert found | game == found and found["isUnfinished"] and found["review"] == ""
    desk.send("resume", game=file.stem)
    desk.wait()
    assert desk.vertices[0] == "C3" and desk.state["file"] == file.name


def test_a_saved_game_is_listed_with_the_rank_at_which_it_continues(desk: Desk, tmp_path: Path) -> None:
    game, players = Game(19), {"a": "gtp_engine 6k", "b": "human", "c": "gtp_engine"}
    game.play(BLACK, "D4")
    for name, player in players.items():
        write_sgf(GameRecord.from_game(game, black="human", white=player), tmp_path / f"{name}.sgf")
    assert {game["name"]: game["opponent"] for game in listed(desk)} == {"a": "6k", "b": "", "c": "max"}


def test_a_resumed_game_has_its_times(desk: Desk, engine: Engine, tmp_path: Path) -> None:
    desk.send("new", **{**NEW, "colour": "black", "seconds": 7.5})
    desk.played.clock = GameClock(desk.played.tree, used={BLACK: 100.0, WHITE: 20.0})
    desk.play_and_wait("C3")
    name = desk.state["file"].removesuffix(".sgf")
    # As after a crash: nothing but the file is left, and another program reads it.
    engine.settings = EngineSettings(network="uniform", threads=1, seed=1, seconds=3.0)
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    clock = again.session.now()["clock"]
    assert clock["used"] == {"black": 0.0, "white": 0.0} and clock["running"] is None
    again.send("resume", game=name)
    state = again.state
    used = state["clock"]["used"]
    assert 100 <= used["black"] < 110 and 20 <= used["white"] < 30
    assert (state["seconds"], state["visits"], state["rank"]) == (7.5, 4, "20k")
    again.send("new", **{**NEW, "colour": "black"})
    assert again.state["clock"]["used"]["white"] == 0.0


def test_a_resumed_game_has_the_engines_default_time(desk: Desk, engine: Engine, tmp_path: Path) -> None:
    desk.send("new", **{**NEW, "colour": "black", "rank": "max", "visits": None})
    desk.play("C3")
    desk.send("stop")
    desk.wait()
    name = desk.state["file"].removesuffix(".sgf")
    engine.settings = EngineSettings(network="uniform", threads=1, seed=1, seconds=60.0, visits=3)
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    again.send("resume", game=name)
    assert (again.state["seconds"], again.state["visits"]) == (5.0, None)


def test_a_record_shows_its_title_ranks_and_next_moves(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9]BR[2d]EV[A cup];B[ee](;W[cc])(;W[gg]))")
    desk.send("go", move=1)
    state = desk.state
    assert (state["title"], state["ranks"]) == ("A cup", {"black": "2d", "white": ""})
    assert state["next"] == ["C7", "G3"]


def test_a_record_is_opened_and_stepped_through(desk: Desk, tmp_path: Path) -> None:
    desk.send("open", sgf=RECORD)
    state = desk.state
    assert (state["width"], state["komi"], state["rules"], state["moves"]) == (9, 5.5, "japanese", 3)
    assert state["humans"] == ["black", "white"] and state["isYourTurn"] and state["result"] is None
    assert state["names"] == {"black": "Ann", "white": "Ben"}
    assert state["recordedResult"] == {"winner": "white", "by": "resignation", "points": 0.0}
    assert state["place"] == 0  # where reading begins
    desk.send("go", move=2)
    assert desk.state["comment"] == "well played"
    assert list(tmp_path.iterdir()) == []  # opening saves nothing
    desk.send("go", move=3)
    desk.play("G3")
    file = desk.saved()
    assert len(read_sgf(file).moves) == 4


def test_a_step_does_not_play_the_game_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = "".join(f";B[{column}a];W[{column}i]" for column in "abcdefgh")
    desk.send("open", sgf=f"(;GM[1]SZ[9]{moves})")
    desk.send("go", move=16)
    desk.send("go", step=-1)  # finds the position by the engine's rules once
    played: list[object] = []
    play = Game.play
    monkeypatch.setattr(
        Game, "play", lambda game, *move, **options: (played.append(move), play(game, *move, **options))[1]
    )
    counts = []
    for step in (-1, -1, 1):
        played.clear()
        desk.send("go", step=step)
        counts.append(len(played))
    assert desk.state["place"] == 14 and counts[:2] == [0, 0] and counts[2] <= 1


def test_the_page_says_that_a_file_has_other_games(desk: Desk, tmp_path: Path) -> None:
    def names() -> list[str]:
        return [remark["name"] for remark in desk.state["remarks"]]

    desk.send("open", sgf=RECORD + RECORD)
    assert "record.firstGame" in names()
    desk.play("G3")
    assert "record.firstGame" in names()
    desk.send("open", sgf=RECORD)
    assert "record.firstGame" not in names()
    path = tmp_path / "two.sgf"
    path.write_text(RECORD + RECORD)
    desk.played.load(open_tree(read_sgf(path), path))
    session = new_session(desk.played, desk.published.append, desk.calls.put)  # as `web FILE` begins
    opening = next(part for part in session.parts if part.name == "game")
    assert "record.firstGame" in [remark["name"] for remark in opening.document()["remarks"]]


def test_the_page_says_what_a_record_leaves_open(desk: Desk) -> None:
    desk.send("open", sgf="(;SZ[9]RU[XY]PB[A[1]];B[ee])")
    assert [(remark["name"], remark["values"].get("text")) for remark in desk.state["remarks"]] == [
        ("record.unescaped", None),
        ("record.unknownRules", "XY"),
        ("record.noKomi", None),
    ]
    assert (desk.state["rules"], desk.state["komi"]) == ("chinese", 0)
    desk.send("open", sgf="(;SZ[9]RU[Japanese]KM[];B[ee])")
    assert [remark["name"] for remark in desk.state["remarks"]] == ["record.noKomi"]
    assert (desk.state["rules"], desk.state["komi"]) == ("japanese", 6)


def test_a_record_in_another_format_is_opened(desk: Desk) -> None:
    content = (Path(__file__).parents[1] / "data" / "sgf" / "tygem.gib").read_bytes()
    desk.send("open", files=[["a.gib", base64.b64encode(content).decode()]])
    assert (desk.state["moves"], desk.state["handicap"]) == (4, 3)


def test_a_record_leaves_the_engines_settings_alone(desk: Desk, engine: Engine) -> None:
    engine.settings = EngineSettings(network="uniform", threads=1, seed=1, visits=8, rank="25k")
    ours = "(;GM[1]SZ[5]AP[gtp_engine:1]PB[human]PW[gtp_engine]GESEC[60]GEVIS[7];B[cc];W[bb])"
    desk.send("open", sgf=ours)
    state = desk.state
    assert state["moves"] == 2 and (state["rank"], state["visits"], state["seconds"]) == ("25k", 8, None)
    desk.send("branch", **FROM_HERE | {"rank": desk.state["rank"]})
    assert (desk.state["rank"], desk.state["visits"]) == ("25k", 8)


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("B+3.75", {"winner": "black", "by": "points", "points": 3.75}),
        ("W+F", {"winner": "white", "by": "forfeit", "points": 0.0}),
        ("B+", {"winner": "black", "by": "", "points": 0.0}),
        ("Draw", {"winner": None, "by": "draw", "points": 0.0}),
        ("Void", {"winner": None, "by": "void", "points": 0.0}),
        ("W+Illegal", {"winner": None, "by": "other", "points": 0.0, "text": "W+Illegal"}),
        ("", None),
    ],
)
def test_the_result_of_a_record_is_sent_in_parts(desk: Desk, written: str, parts: dict[str, object] | None) -> None:
    desk.send("open", sgf=f"(;GM[1]SZ[9]RE[{written}];B[ee])")
    assert desk.state["recordedResult"] == parts


@pytest.mark.parametrize(
    ("declared", "charset", "name"),
    [
        ("", "gb18030", "李昌镐九段"),
        ("CA[UTF-8]", "gb18030", "古力九段执黑"),  # which is wrong
    ],
)
def test_a_file_of_any_charset_is_opened_and_saved(
    desk: Desk, tmp_path: Path, declared: str, charset: str, name: str
) -> None:
    data = f"(;GM[1]SZ[9]{declared}PB[{name}]C[{name}];B[ee])".encode(charset)
    desk.send("open", files=[["game.sgf", base64.b64encode(data).decode()]])
    assert desk.state["names"]["black"] == name
    desk.send("go", move=0)
    assert desk.state["comment"] == name
    desk.play("C3")
    file = desk.saved()
    assert read_sgf(file).black == name and name in file.read_text("utf-8")


@pytest.mark.parametrize(("declared", "name"), [("GB2312", "José é"), ("Shift_JIS", "古力"), ("ISO-8859-1", "本因坊")])
def test_the_charset_of_a_pasted_text_is_that_of_the_file_it_comes_from(desk: Desk, declared: str, name: str) -> None:
    desk.send("open", sgf=f"(;GM[1]SZ[9]CA[{declared}]PB[{name}];B[ee])")
    assert desk.state["names"]["black"] == name


def test_only_who_has_played_with_this_program_is_called_by_it(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9]AP[gtp_engine:1]PB[human]PW[Ann]WR[3d];B[ee])")
    assert desk.state["names"] == {"black": {"name": "you", "values": {}}, "white": "Ann"}
    assert desk.state["ranks"] == {"white": "3d"}
    desk.send("open", sgf="(;GM[1]SZ[9]PB[You]PW[gtp_engine 12k]WR[3d];B[ee])")
    assert desk.state["names"] == {"black": "You", "white": "gtp_engine 12k"}
    assert desk.state["ranks"] == {"black": "", "white": "3d"}


@pytest.mark.parametrize("sgf", ["", "no game", "(;GM[1]SZ[9];B[zz])", "(;GM[2])", "(;SZ[99])"])
def test_what_is_no_record_is_refused(desk: Desk, sgf: str) -> None:
    before = desk.fresh()
    with pytest.raises(UserError):
        desk.send("open", sgf=sgf)
    with pytest.raises(UserError):
        desk.send("open", files=[["game.sgf", base64.b64encode(sgf.encode()).decode()]])
    desk.refuse(r"invalid file .*content in base64", "open", files=[["game.sgf", f"({sgf}"]])
    assert desk.fresh() == before


def test_a_game_that_cannot_be_saved_gives_way_once_it_is_downloaded(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    desk = Desk(engine, tmp_path / "file" / "folder")
    desk.play_and_wait("C3")
    assert "cannot save" in desk.state["problem"]
    desk.refuse("download its SGF first", "open", sgf=RECORD)
    assert len(read_sgf(desk.session.download().encode()).moves) == 2
    desk.send("resign")
    desk.refuse("download its SGF first", "open", sgf=RECORD)
    assert read_sgf(desk.session.download().encode()).result == "W+R"
    desk.send("open", sgf=RECORD)
    assert desk.state["moves"] == 3


def test_the_page_says_that_the_game_goes_on_in_another_file(desk: Desk) -> None:
    desk.play_and_wait("C3")
    assert desk.state["notice"] is None
    file = desk.saved()
    content = file.read_text() + "\n"
    file.write_text(content)
    desk.play("B2")
    desk.wait()  # the engine's move is saved too, to the new file
    desk.session.show()
    said = f"another program has changed {file}: this game is now saved to {desk.played.file.path}"
    assert desk.state["notice"] == desk.fresh()["notice"] == said  # also for a page that is opened later
    assert desk.state["file"] != file.name and file.read_text() == content
    desk.send("new", **{**NEW, "colour": "black"})
    assert desk.state["notice"] is None


@pytest.mark.parametrize(("kind", "values"), [("new", NEW), ("open", {"sgf": RECORD + RECORD})])
def test_a_game_that_gives_way_says_that_it_went_to_another_file(
    desk: Desk, kind: str, values: dict[str, object]
) -> None:
    desk.play_and_wait("C3")
    file = desk.saved()
    file.write_text(file.read_text() + "\n")
    desk.send(kind, **values)
    assert desk.state["notice"].startswith(f"another program has changed {file}")
    assert len(desk.state["remarks"]) == (kind == "open")


def test_a_game_against_the_engine_from_any_position(desk: Desk, tmp_path: Path) -> None:
    desk.send("open", sgf=RECORD)
    desk.send("go", move=2)
    desk.send("branch", **FROM_HERE | {"rank": "3k", "seconds": 2, "visits": None, "time": "absolute 100"})
    state = desk.state
    assert (state["moves"], state["humans"], state["task"]) == (2, ["black"], None)
    assert (state["rank"], state["seconds"], state["clock"]["system"]) == ("3k", 2.0, "absolute")
    desk.play_and_wait("G3")
    assert len(desk.vertices) == 4
    file = desk.saved()
    assert len(read_sgf(file).moves) == 4


def test_a_record_with_more_positions_than_pages_can_show_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gtp_engine.clients.web.opening._MOST_POSITIONS", 4)
    desk.send("open", sgf="(;SZ[9];B[aa];B[bb];B[cc])")
    desk.refuse("a game of more than 4 nodes is too large", "open", sgf="(;SZ[9];B[aa];B[bb](;B[cc])(;B[dd]))")
    assert desk.state["moves"] == 3
    desk.send("open", sgf="(;SZ[9]C[;;;;];B[aa];B[bb])(;SZ[9];B[aa];B[bb])")  # the first game's own nodes count
    assert desk.state["moves"] == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_record_is_shown_up_to_an_illegal_move(desk: Desk, language: str) -> None:
    desk.send("open", sgf="(;SZ[9];B[ee];W[cc];B[ee](;W[aa])(;W[bb]))")
    assert desk.state["moves"] == 2
    at = desk.state["remarks"][-1]["values"]["problem"]["values"]
    assert (at["place"]["values"], at["problem"]["name"]) == ({"number": "3"}, "error.occupied")
    played = desk.played.saved
    assert played is not None and "E5" in texts(language).say(played.remarks[-1])
    desk.send("open", sgf=RECORD)
    assert "error.recordEnds" not in [remark["name"] for remark in desk.state["remarks"]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("sgf", "detail"),
    [
        ("hello", ""),
        ("(;GM[3];B[aa])", "GM[3]"),
        ("(;SZ[26];B[aa])", "26x26"),
        ("(;SZ[9];B[ee]", ""),
        ("(;SZ[9];B[zz];W[ee])", "invalid SGF point 'zz' on a 9x9 board"),
        ("(;SZ[9]" + 5 * ";B[aa];W[]" + ")", ""),
    ],
)
def test_what_is_wrong_with_a_record_is_said_in_the_language_of_the_page(
    pair: Desk, monkeypatch: pytest.MonkeyPatch, language: str, sgf: str, detail: str
) -> None:
    monkeypatch.setattr("gtp_engine.clients.web.opening._MOST_POSITIONS", 10)
    with pytest.raises(UserError) as refused:
        pair.send("open", sgf=sgf)
    phrase = refused.value.phrase
    assert phrase is not None and texts().say(phrase) == str(refused.value)
    said = texts(language).say(phrase).translate(dict.fromkeys(map(ord, "\u2068\u2069")))
    assert detail in said
    if language != "es" and language != "en":
        assert set(re.findall("[A-Za-z]{2,}", said.replace(detail, ""))) <= {"SGF"}
