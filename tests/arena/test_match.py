"""Whole matches of scripted engines: colours, files, resuming, several games at a time, the sequential test."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gtp_engine.arena.elo import Sprt, Tally
from gtp_engine.arena.gtp_client import EngineError, EngineStartError
from gtp_engine.arena.match import play_match
from gtp_engine.arena.results import GameResult, MatchResult, append_result
from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf

Script = Callable[..., str]


def run(a: str, b: str, games: int, folder: Path | None = None, **options: object) -> MatchResult:
    return play_match(a, b, games=games, width=5, komi=0.5, patience=20.0, folder=folder, **options)  # type: ignore[arg-type]


def test_colours_alternate_and_games_are_saved(scripted: Script, tmp_path: Path) -> None:
    result = run(scripted("--name", "Quitter", "resign"), scripted("--name", "Stayer"), 4, tmp_path, seed=3)
    assert [game.black for game in result.games] == ["A", "B", "A", "B"]
    assert [game.result for game in result.games] == ["W+R", "B+R", "W+R", "B+R"]
    assert result.tally == Tally(0, 0, 4, (2, 0, 0, 0, 0))
    records = [read_sgf(tmp_path / game.sgf) for game in result.games]
    assert [(record.black, record.result) for record in records[:2]] == [
        ("Quitter 1 (A)", "W+R"),
        ("Stayer 1 (B)", "B+R"),
    ]
    assert records[0].moves[:2] == records[1].moves[:2] != records[2].moves[:2]
    assert records[0].main_line[-1].comment == "resignation"


def test_a_match_goes_on_where_it_stopped(scripted: Script, tmp_path: Path) -> None:
    engines = scripted("resign"), scripted()
    run(*engines, 2, tmp_path)
    played: list[int] = []
    result = run(*engines, 4, tmp_path, on_game=lambda result, game: played.append(game.number))
    assert played == [2, 3] and len(result.games) == 4
    file = tmp_path / "results.jsonl"
    file.write_text(file.read_text()[:-20])  # the last game is played again
    run(*engines, 4, tmp_path, on_game=lambda result, game: played.append(game.number))
    assert played == [2, 3, 3]
    assert [json.loads(line)["number"] for line in file.read_text().splitlines()] == [0, 1, 2, 3]


def test_a_folder_belongs_to_one_match(scripted: Script, tmp_path: Path) -> None:
    engines = scripted("resign"), scripted()
    run(*engines, 1, tmp_path)
    with pytest.raises(ValueError, match=r"holds another match: its opening moves is 2, not 4"):
        run(*engines, 1, tmp_path, opening_moves=4)


@pytest.mark.parametrize("cut_off", ["", '{"number": 0, "bla'])
def test_a_mistyped_engine_is_corrected_in_the_same_folder(scripted: Script, tmp_path: Path, cut_off: str) -> None:
    with pytest.raises(EngineStartError):
        run("/nonexistent", scripted(), 1, tmp_path)
    if cut_off:
        (tmp_path / "results.jsonl").write_text(cut_off)
    run(scripted("resign"), scripted(), 1, tmp_path)
    assert json.loads((tmp_path / "match.json").read_text())["engine A"] == scripted("resign")
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 1


def test_a_file_of_another_program_is_left_alone(scripted: Script, tmp_path: Path) -> None:
    (tmp_path / "match.json").write_text('{"engines": ["a", "b"], "played": 400}')
    with pytest.raises(ValueError, match="holds another match"):
        run(scripted(), scripted(), 1, tmp_path)
    assert "400" in (tmp_path / "match.json").read_text()


def test_games_without_their_settings_are_left_alone(scripted: Script, tmp_path: Path) -> None:
    engines = scripted("resign"), scripted()
    run(*engines, 1, tmp_path)
    (tmp_path / "match.json").unlink()
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=r"holds the games of a match without its match\.json"):
        run(*engines, 1, tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_rules_and_paths_may_be_texts_and_the_komi_of_the_board_is_usual(scripted: Script, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    result = play_match(scripted("resign"), scripted(), games=2, width=5, rules="japanese", folder=str(folder))
    facts = json.loads((folder / "match.json").read_text())
    assert (result.tally.games, facts["rules"], facts["komi"]) == (2, "japanese", 7)


def test_damaged_files_are_named_and_left_alone(scripted: Script, tmp_path: Path) -> None:
    engines = scripted("resign"), scripted()
    run(*engines, 1, tmp_path)
    settings, results = tmp_path / "match.json", tmp_path / "results.jsonl"
    good = json.loads(results.read_text())
    wrong = [{"number": "1"}, {"number": -1}, {"reason": ["x"]}, {"names": 5}, {"names": {"A": "x"}}, {"winner": "C"}]
    for text in ("{}", "[]", *(json.dumps(good | change) for change in wrong)):
        results.write_text(f"{text}\n")
        with pytest.raises(ValueError, match=r"results\.jsonl, line 1 is damaged") as refusal:
            run(*engines, 1, tmp_path)
        assert "\n" not in str(refusal.value) and results.read_text() == f"{text}\n"
    settings.write_text("[]")
    with pytest.raises(ValueError, match=r"match\.json is damaged: expected the settings of a match"):
        run(*engines, 1, tmp_path)
    assert settings.read_text() == "[]"


def test_several_games_at_a_time(scripted: Script, tmp_path: Path) -> None:
    result = run(scripted("resign"), scripted(), 6, tmp_path, concurrency=3)
    assert [game.number for game in result.games] == list(range(6))
    assert result.tally.losses == 6


def test_an_engine_is_started_again_after_a_crash(scripted: Script, tmp_path: Path) -> None:
    crasher = scripted("--once", str(tmp_path / "crashed"), "crash", "resign")
    result = run(crasher, scripted(), 2)
    assert [game.reason for game in result.games] == ["crash", "score"]
    assert (result.faults("A"), result.faults("B")) == (1, 0)
    assert "out of memory" in result.games[0].notes[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [((), "cannot start engine '/nonexistent'"), (("--refuse", "boardsize"), "'boardsize 5' with an error: refused")],
)
def test_an_engine_that_does_not_start_or_refuses_the_board_ends_the_match(
    scripted: Script, words: tuple[str, ...], message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        run(scripted(), scripted(*words) if words else "/nonexistent", 2)


def test_the_sequential_test_ends_the_match(scripted: Script) -> None:
    result = run(scripted("resign"), scripted(), 50, sprt=(0, 400))
    assert (result.sprt, result.verdict) == (Sprt(0, 400), "H0")
    assert len(result.games) < 20
    assert result.is_over


def test_an_interrupted_match_keeps_its_games(scripted: Script, tmp_path: Path) -> None:
    engines = scripted("resign"), scripted()

    def interrupt(result: MatchResult, game: GameResult) -> None:
        if game.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(*engines, 10, tmp_path, on_game=interrupt)
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 3
    left = tmp_path / ".game-0004.12345.tmp.sgf"  # by a program that was killed
    left.touch()
    run(*engines, 4, tmp_path)
    assert not left.exists()


def test_result_as_json(scripted: Script) -> None:
    report = run(scripted("resign"), scripted("--name", "Stayer"), 2, sprt=Sprt(-10, 10)).to_dict()
    assert report["engines"]["B"]["name"] == "Stayer 1"
    assert (report["wins"], report["draws"], report["losses"]) == (0, 0, 2)
    assert report["elo"] is None
    assert report["elo_interval"][0] is None
    assert report["sprt"]["verdict"] is None
    assert json.loads(json.dumps(report))["games"][0]["reason"] == "resignation"


def test_what_is_no_command_line_is_refused(scripted: Script) -> None:
    message = "invalid engine .*: expected a command line, such as 'gtp_engine gtp'; play_networks is for networks"
    with pytest.raises(UserError, match=message):
        play_match(scripted(), object())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"games": 0}, "invalid games 0: expected a whole number of 1 or more"),
        ({"games": 2.5}, "invalid games 2.5: expected a whole number of 1 or more"),
        ({"concurrency": 0}, "invalid concurrency 0: expected a whole number of 1 or more"),
        ({"opening_moves": -1}, "invalid opening_moves -1: expected a whole number of 0 or more"),
        ({"seed": "a"}, "invalid seed 'a': expected a whole number of 0 or more"),
        ({"patience": "x"}, "invalid patience 'x': expected a number of seconds above 0"),
        ({"patience": 0}, "invalid patience 0: expected a number of seconds above 0"),
        ({"sprt": 20}, "invalid sprt 20: expected two Elo differences, such as (0, 20)"),
        ({"sprt": (0, "20")}, "invalid Elo difference '20': expected a number"),
        ({"sprt": (20, 0)}, "sprt needs elo0 < elo1, got 20 and 0"),
        ({"folder": 5}, "invalid folder 5: expected a path"),
        ({"openings": 5}, "invalid openings 5: expected a path"),
        ({"time": 300}, "invalid time 300: expected whole numbers of main seconds, byo-yomi seconds and stones, such"),
        ({"time": (300, 10)}, "invalid time (300, 10): expected whole numbers of main seconds"),
        ({"time": (1.5, 0, 0)}, "invalid time (1.5, 0, 0): expected whole numbers of main seconds"),
        ({"time": (300, 10, 0)}, "invalid time 300 10 0: a period needs a number of stones, such as 1 for byo-yomi"),
        ({"time": (0, -1, 0)}, "invalid time (0, -1, 0): expected whole numbers of main seconds"),
        (
            {"time": (0, 0, 5)},
            "invalid time 0 0 5: a number of stones needs main time or a period; 0 0 0 means no limit",
        ),
    ],
)
def test_bad_settings_are_named(scripted: Script, option: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"games": 1, "width": 5, "patience": 20.0} | option
    with pytest.raises(ValueError) as error:
        play_match(scripted(), scripted(), **given)  # type: ignore[arg-type]
    assert str(error.value).startswith(message)


@pytest.mark.peer
def test_gnugo_against_itself(gnugo: str, tmp_path: Path) -> None:
    result = play_match(gnugo, gnugo, games=2, width=9, komi=7.0, folder=tmp_path, concurrency=2)
    for game in result.games:
        assert game.reason in ("score", "resignation") and game.notes == ()
        record = read_sgf(tmp_path / game.sgf)
        assert record.black.startswith("GNU Go 3.8")
        assert len(record.moves) == game.moves


@pytest.mark.peer
def test_whole_games_against_gnugo_are_legal_and_counted_alike(gnugo: str, tmp_path: Path) -> None:
    # Without resigning, so that both games are played out and counted.
    ours = f"{sys.executable} -m gtp_engine gtp --network none --visits 150 --threads 1 --seed 5 --no-resign"
    result = play_match(ours, gnugo, games=2, width=9, komi=7.0, folder=tmp_path)
    for game in result.games:
        assert (game.reason, game.notes, set(game.claims)) == ("score", (), {"A", "B"})
        record = read_sgf(tmp_path / game.sgf)
        replayed = record.to_game()
        assert replayed.is_over and len(replayed.moves) == game.moves
        assert record.result == game.result


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_with_the_file(scripted: Script, tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*results.jsonl'"):
        append_result(tmp_path, run(scripted("resign"), scripted(), 1).games[0])


def test_the_first_engine_takes_handicap_stones_in_every_game(scripted: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    engines = scripted("--log", str(log), "pass"), scripted("E5", "resign")
    result = play_match(*engines, games=2, width=9, handicap=3, patience=20.0, folder=tmp_path / "match")
    assert [(game.black, game.result) for game in result.games] == [("A", "B+R")] * 2
    record = read_sgf(tmp_path / "match" / result.games[0].sgf)
    assert (record.handicap, record.komi, [move.colour for move in record.moves]) == (3, 0.5, [WHITE, BLACK])
    commands = log.read_text().splitlines()
    assert commands.index("komi 0.5") < commands.index("fixed_handicap 3") < commands.index("play w E5")
    with pytest.raises(ValueError, match="holds another match: its handicap is 3, not 2"):
        play_match(*engines, games=2, width=9, handicap=2, patience=20.0, folder=tmp_path / "match")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"handicap": 1}, "invalid number of stones: 1"),
        ({"handicap": 2, "width": 5}, r"invalid number of stones: 2 \(on 5x5: none\)"),
        ({"handicap": 2, "openings": "games.sgf"}, "games with handicap stones have no openings"),
    ],
)
def test_handicaps_that_cannot_be(scripted: Script, options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        play_match(scripted(), scripted(), **{"games": 1, "width": 9, **options})  # type: ignore[arg-type]
