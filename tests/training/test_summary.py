"""What a run tells about itself: how long a cycle takes, how strong its networks are, its curves and its summary."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import miniature
import pytest

from gtp_engine.arena.elo import Tally, elo_difference
from gtp_engine.base.errors import UserError
from gtp_engine.base.messages import duration_text
from gtp_engine.go.game import Game
from gtp_engine.nets.library import default_networks
from gtp_engine.training.log import cells, cycles_left, elo_fields, summary
from gtp_engine.training.new_run import RECORDS, settings_from_options
from gtp_engine.training.plots import COLOURS, _with_network_0, calibration
from gtp_engine.training.progress import Limit
from gtp_engine.training.report import _boards, differing_settings, table_of_log, write_report
from gtp_engine.training.run_folder import RunFolder, RunState
from gtp_engine.training.run_settings import RunSettings
from gtp_engine.training.selfplay_run import player_of


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1 second"),
        (80, "80 seconds"),
        (150, "2.5 minutes"),
        (120, "2 minutes"),
        (5000, "83 minutes"),
        (4e4, "11 hours"),
    ],
)
def test_durations_have_a_fitting_unit(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_what_is_left_is_told_from_the_mean_of_the_last_cycles() -> None:
    seconds = (900, 100, 100, 100, 100, 200)
    lines = [{"cycle": cycle, "cycle_seconds": of_cycle} for cycle, of_cycle in enumerate(seconds, 1)]
    assert cycles_left(lines, 10) == "a cycle takes about 2 minutes here, the 4 to come about 8 minutes"
    assert cycles_left(lines, 7).endswith("the last one about 2 minutes")
    assert cycles_left(lines, 6) == cycles_left([], 6) == cycles_left([{"cycle": 1}], 6) == ""


def test_the_interval_of_elo_grows_from_match_to_match_and_has_no_end_after_a_whitewash() -> None:
    first = {"cycle": 2, **elo_fields([], 0, Tally(40, 0, 0))}
    assert first["elo"] == pytest.approx(elo_difference(40.5 / 41), abs=0.1)
    assert 0 < first["elo_low"] < first["elo"] and "elo_high" not in first
    assert "elo_low" not in elo_fields([], 0, Tally(0, 0, 40))
    second = elo_fields([first], 2, Tally(20, 0, 20))
    assert second["elo"] == first["elo"] and second["score"] == 0.5 and second["match_games"] == 40
    assert "elo_high" not in second
    alone = elo_fields([], 0, Tally(20, 0, 20))
    assert second["elo"] - second["elo_low"] == pytest.approx(
        ((first["elo"] - first["elo_low"]) ** 2 + alone["elo_low"] ** 2) ** 0.5, abs=0.1
    )


CYCLE = {"seconds": 90.0, "samples": 640, "games_in_all": 1200, "losses": {"policy": 2.5}}
WON, EVEN = Tally(36, 0, 4), Tally(20, 0, 20)


def folder_with(path: Path, lines: list[dict[str, Any]], **settings: str) -> RunFolder:
    folder = RunFolder(path)
    folder.create(miniature.settings(**settings))
    folder.write_log(RunState(lines=lines))
    folder.make_ready("train")
    return folder


def test_a_summary_says_how_strong_the_network_is_and_where_the_run_is(tmp_path: Path) -> None:
    lines = [CYCLE | {"cycle": 1} | elo_fields([], 0, WON)]
    folder = folder_with(tmp_path / "run", lines)
    folder.network(0).touch()
    assert summary(folder) == (
        "1 cycle, 1,200 games, 640 samples, 1.5 minutes: network 1 has +364 Elo over network 0 (95% interval +209 to "
        "+554); cycle 2 of 3 is under way, with 0 of 48 games saved"
    )
    even, stronger = ([*lines, CYCLE | {"cycle": 2} | elo_fields(lines, 1, tally)] for tally in (EVEN, WON))
    chance, lost = ([CYCLE | {"cycle": 1} | elo_fields([], 0, tally)] for tally in (EVEN, Tally(4, 0, 36)))
    for number, (others, cycles, text) in enumerate(
        (
            (even, 3, "games with network 1 show no clear difference; the first network"),
            (stronger, 2, "and is stronger than network 1; all cycles are finished"),
            (chance, 3, "which may be chance"),
            (lost, 3, "network 1 has -364 Elo over network 0 (95% interval -554 to -209); "),
            ([CYCLE | {"cycle": 1}], 3, "not measured yet"),
        )
    ):
        assert text in summary(folder_with(tmp_path / str(number), others, cycles=str(cycles)))


@pytest.mark.parametrize(
    ("games", "wanted", "text"),
    [(47, 48, "47 of 48 games"), (70, 48, "its 70 games"), (0, 1, "0 of 1 game"), (1, 1, "its 1 game")],
)
def test_a_summary_counts_the_games_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, games: int, wanted: int, text: str
) -> None:
    """Workers play on until they are told to stop, so that a cycle can have more games than it asked for."""
    folder = folder_with(tmp_path / "run", [], games=str(wanted))
    folder.network(0).touch()
    monkeypatch.setattr("gtp_engine.training.log.total", lambda shards: SimpleNamespace(games=games))
    assert summary(folder) == f"no cycle is finished; cycle 1 of 3 is under way, with {text} saved"


def test_a_summary_of_records_tells_what_the_measurements_say(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(settings_from_options({"games": ["/a.zip"], "samples": 1000}))
    assert summary(folder) == "nothing is learned yet"
    line = {"samples": 0, "seconds": 0.0, "losses": {}, "validation": {"top1": 0.01, "policy": 5.9, "winner": 0.5}}
    later = {"samples": 250, "seconds": 150.0, "validation": {"top1": 0.2, "policy": 3.25, "winner": 0.625}}
    folder.write_log(RunState(lines=[line, later]))
    assert summary(folder) == (
        "250 of 1,000 (25%) samples learned in 2.5 minutes: on held-back games first choice right 20.0% (1.0% at "
        "first), winner right 62.5% (50.0% at first), policy loss 3.250 (5.900 at first)"
    )
    folder.write_log(RunState(lines=[{"samples": 250, "seconds": 150.0, "validation": {"positions": 0}}]))
    assert summary(folder) == "250 of 1,000 (25%) samples learned in 2.5 minutes; no game was held back to measure it"


def test_a_report_before_the_first_cycle_is_a_line_that_says_where_the_run_is(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "run", [])
    message = "nothing to report yet: no cycle is finished; the first network is being made, then cycle 1 of 3"
    with pytest.raises(ValueError, match=message):
        write_report([folder], tmp_path / "report.html")
    folder.network(0).touch()
    with pytest.raises(ValueError, match="no cycle is finished; cycle 1 of 3 is under way, with 0 of 48 games saved"):
        write_report([folder], tmp_path / "report.html")


def test_a_report_has_one_colour_for_a_run_and_names_what_differs(tmp_path: Path) -> None:
    others = {"losses": {"policy": 2.0, "opponent": 2.25, "value": 0.5}, "length": 20.0, "rate": 100.0}
    lines = [CYCLE | others | {"cycle": 1, **elo_fields([], 0, WON)}]
    lines.append(CYCLE | others | {"cycle": 2, "seconds": 180.0, "samples": 1280, **elo_fields(lines, 1, EVEN)})
    one = folder_with(tmp_path / "one<i>", lines)
    two = folder_with(tmp_path / "two", lines[:1], learning_rate="0.0025", samples="12800")
    write_report([one, two, one], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    cells = re.findall(r'<td class="text">(.*?)</td>', text)
    assert cells == ["learn.learning_rate", "0.005", "0.0025", "learn.samples", "6400", "12800"]
    plots = re.findall(r"<figure>.*?(<svg.*?</svg>)</figure>", text.partition('<div class="boards">')[0], re.DOTALL)
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert len(plots) == len(titles) == 4 * len(set(titles)) and "Strength, with 95% interval" in titles
    for plot in plots:
        ElementTree.fromstring(plot)
        assert set(re.findall(r"#[0-9a-f]{6}", plot)) == set(COLOURS[:2]), "colours belong to runs"
        assert 'fill="currentColor"' in plot, "texts are readable on a dark page, too"
    assert "one&lt;i&gt;" in text and "<i>" not in text
    assert "<td>+364</td><td>+209</td><td>+554</td>" in text
    write_report([two], tmp_path / "report.html")
    assert "Settings that differ from the defaults" in (tmp_path / "report.html").read_text()


def test_strength_begins_with_network_0_where_the_log_tells_when_it_was_made() -> None:
    line = CYCLE | {"cycle": 1, "cycle_seconds": 30.0, "cycle_samples": 600, **elo_fields([], 0, WON)}
    (start, first) = _with_network_0([line])
    assert first is line
    assert start == {"cycle": 0, "games_in_all": 0, "elo": 0.0, "seconds": 60.0, "samples": 40}
    for unknown in (CYCLE, {**line, "cycle": 2}, CYCLE | {"cycle": 1, "cycle_seconds": 30.0, "cycle_samples": 600}):
        assert _with_network_0([unknown]) == [unknown]


def test_the_last_calibration_of_each_run_is_drawn_and_deviations_have_a_plot(tmp_path: Path) -> None:
    measured = {"calibration": [[0.2, 0.1, 0.5], [0.8, 0.9, 0.5]], "calibration_error": 0.1, "stdev": 2.0}
    line = CYCLE | {"cycle": 1, "validation": measured}
    write_report([folder_with(tmp_path / "one", [line])], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert {"Unseen games: losses of deviation and lead", "Unseen games: calibration error"} <= set(titles)
    assert text.count("points won, %") == 1 and "<th>calibration error</th>" in text and "<td>10.0%</td>" in text
    assert calibration({"one": [CYCLE]}) == ""


def test_a_terminal_shows_measurements_of_records_and_not_of_cycles() -> None:
    line = {"seconds": 60.0, "samples": 64, "validation": {"policy": 2.0, "top1": 0.25}}
    assert cells(line) == {"samples": "64", "unseen policy": "2.000", "top 1": "25.0%", "hours": "0.02"}
    assert cells({"cycle": 3, **line}) == {"cycle": "3", "samples": "64", "hours": "0.02"}
    assert cells({"cycle": 3, **line}, report=True)["unseen policy"] == "2.000"


def test_the_tables_of_a_report_name_what_is_left_out_and_compare_with_the_defaults() -> None:
    settings = RunSettings()
    titles, table = differing_settings({"default": replace(settings, cycle=replace(settings.cycle, network="b2c16"))})
    assert titles.count("default") == 2 and any("b2c16" in cell for row in table for cell in row)
    records = replace(RECORDS, records=replace(RECORDS.records, games=["x.sgf"]))
    _, learn = differing_settings({"run": records})
    assert [row[0] for row in learn] == ["records.games"]  # and none that `learn` does not have
    _, rows = table_of_log([CYCLE | {"cycle": cycle} for cycle in range(1, 51)])
    assert [row[0] for row in rows] == [*map(str, range(1, 21)), "...", *map(str, range(31, 51))]


@pytest.mark.parametrize(("count", "captions"), [(0, []), (1, ["1 to 1"]), (7, ["1 to 2", "3 to 5", "6 to 7"])])
def test_a_short_game_is_shown_on_fewer_boards(count: int, captions: list[str]) -> None:
    game = Game(3)
    for point in ["A1", "B1", "C1", "A2", "B2", "C2", "A3"][:count]:
        game.play(game.to_move, point)

    _, figures = _boards("a game", game)
    assert [caption.removeprefix("moves ") for _, caption in figures] == captions


def test_captions_have_the_moves_that_show_no_number() -> None:
    game = Game(3)
    for move in ["B A2", "W C3", "W A1", "B B1", "B A1", "W pass", "B pass"]:
        game.play(*move.split())
    about, figures = _boards("a game", game)
    assert [caption for _, caption in figures] == ["moves 1 to 2", "moves 3 to 5; 3 A1", "moves 6 to 7; 6 pass, 7 pass"]
    assert about == "a game"


@pytest.mark.parametrize("kept", [None, 0, 1000])
def test_a_network_that_is_missing_or_damaged_is_named_with_what_helps(kept: int | None, tmp_path: Path) -> None:
    folder, whole = RunFolder(tmp_path), next(iter(default_networks())).read_bytes()
    folder.network(0).parent.mkdir()
    if kept is not None:
        folder.network(0).write_bytes(whole[:kept])
    problem = "missing" if kept is None else "damaged"
    message = f"{folder.network(0)} is {problem}, and a match needs it: restore it from a copy"
    with pytest.raises(UserError) as error:
        player_of(folder.network(0), "restore it from a copy")
    assert str(error.value) == message


def test_a_part_of_the_work_ends_when_the_whole_is_stopped_but_not_by_its_time() -> None:
    whole = Limit(0)
    part = Limit(1, whole)
    assert whole.is_over() and not part.is_over()
    whole.stopped = True
    assert part.is_over()
