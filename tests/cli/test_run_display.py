"""What runs show: the same display for both kinds, with what the source of their games adds."""

import pytest

from gtp_engine.clients.cli.run_display import RunDisplay
from gtp_engine.training.log import log_table

RECORDS = {
    "samples": 25600,
    "seconds": 1800.0,
    "rate": 1234.5,
    "losses": {"policy": 3.0, "value": 0.5},
    "validation": {"policy": 3.25, "top1": 0.125},
}
CYCLE = {
    "cycle": 2,
    "samples": 640,
    "seconds": 3600.0,
    "rate": None,
    "losses": {"policy": 2.5},
    "games_in_all": 1200,
    "length": 85.4,
    "elo": 81.6,
    "evaluations_per_s": 5000.0,
}


def test_a_line_of_the_log_is_a_line_of_text_without_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay() as display:
        display.begin("b6c96.bin.gz from games: starting", [])
        display.line(RECORDS)
        display.line(CYCLE)
    title, records, cycle = capsys.readouterr().out.splitlines()
    assert title == "b6c96.bin.gz from games: starting"
    assert records == (
        "samples 25,600, policy 3.000, value 0.500, unseen policy 3.250, top 1 12.5%, samples/s 1,234, hours 0.50"
    )
    assert cycle == "cycle 2, games 1,200, moves/game 85, samples 640, policy 2.500, Elo +82, evals/s 5,000, hours 1.00"


def test_a_dumb_terminal_has_lines_of_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes anything a terminal
    with RunDisplay() as display:
        display.progress("learning", 256, 2560)
        assert capsys.readouterr().out == "learning 256 of 2,560\n"
        display.line(RECORDS)
        assert capsys.readouterr().out.startswith("samples 25,600, policy 3.000")
    assert capsys.readouterr().out == ""


def test_the_table_has_the_columns_of_its_lines() -> None:
    assert log_table([CYCLE])[0][:4] == ["cycle", "games", "moves/game", "samples"]
    titles, rows = log_table([{**RECORDS, "validation": {}}, RECORDS])
    assert titles == ["samples", "policy", "value", "unseen policy", "top 1", "samples/s", "hours"]
    assert [row[3] for row in rows] == ["", "3.250"]


def test_progress_is_shown_at_once_for_each_phase_and_few_errors_are(capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay() as display:
        for done in (1, 2):
            display.progress("cycle 1 of 3: self-play", done, 1500, "80 moves/s")
        display.progress("cycle 1 of 3: learning", 256, 2560)
        for number in range(30):
            display.skipped(f"game {number}: damaged [sic]")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["cycle 1 of 3: self-play 1 of 1,500, 80 moves/s", "cycle 1 of 3: learning 256 of 2,560"]
    assert lines[2] == "skipped: game 0: damaged [sic]"
    assert len(lines) == 2 + 20 + 1 and lines[-1].startswith("skipped: more files")


def test_each_line_says_which_run_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay("seed 1, A: ") as display:
        display.begin("starting", [])
        display.progress("learning", 256, 2560)
        display.line(RECORDS)
    assert all(line.startswith("seed 1, A: ") for line in capsys.readouterr().out.splitlines())
