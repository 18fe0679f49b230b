"""Which network is used without --network: tiny ones in place of the bundled ones."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from click import UsageError
from click.testing import CliRunner

import gtp_engine.clients.gtp.program_commands  # noqa: F401  (which registers them)
from gtp_engine.clients.analysis.protocol import Schedulers
from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.doctor import doctor
from gtp_engine.clients.cli.selfplay import _network
from gtp_engine.clients.gtp.lines import Inbox
from gtp_engine.clients.gtp.session import Session
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.ranks import Rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.game import Game
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.library import default_networks, find_network, load_network, mean_errors, network_name
from gtp_engine.nets.model import DOUBLINGS, Model
from gtp_engine.search.evaluate.choices import AUTO, ROLLOUTS, network_on
from gtp_engine.search.parameters import SearchParameters, default_parameters
from gtp_engine.training.run_settings import GameSettings, RunSettings

SETTINGS = EngineSettings(threads=1, seed=1, visits=3, device="cpu", precision="float32")
OF_NETWORKS = default_parameters("a network")


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("gtp_engine.nets.library.bundled_folder", lambda: tmp_path)
    model = Model(parse_config("b1c8")).initialise()
    for name in ("small", "large"):
        write_katago_file(model.stored(), tmp_path / f"{name}.bin.gz")
    (tmp_path / "networks.toml").write_text(
        "[judge]\nsmall = [7, 13]\nlarge = [14, 19]\nabsent = [20, 25]\n[errors]\nlarge = [2.5, 8]\n"
    )
    (tmp_path / "small.md").write_text("# small\n\nLearned nothing.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "reads_them"), [("b4c32-9x9", False), ("b6c64-19x19", False), ("b10c384h6nbttflrs-int8", True)]
)
def test_networks_that_learned_without_doublings_ignore_them(name: str, reads_them: bool) -> None:
    weights = load_network(find_network(name)).values["trunk.matmul.weight"]
    assert weights[:, DOUBLINGS].any() == reads_them
    assert not Model(parse_config("b1c8")).initialise().trunk.matmul.weight[:, DOUBLINGS].any()


@pytest.mark.parametrize(
    ("board", "name"),
    [
        ((9, 9), "small"),
        ((13, 7), "small"),
        ((2, 9), "small"),
        ((19, 19), "large"),
        ((13, 19), "large"),
        ((5, 5), "none"),
        ((25, 25), "none"),
    ],
)
def test_the_longer_side_decides(weights: Path, board: tuple[int, int], name: str) -> None:
    assert network_name(Path(network_on(AUTO, *board))) == name
    assert network_on("uniform", *board) == "uniform"


def test_without_bundled_networks_there_are_rollouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.nets.library.bundled_folder", lambda: tmp_path / "nowhere")
    assert default_networks() == {}
    assert network_on(AUTO, 9, 9) == ROLLOUTS


@pytest.mark.parametrize("entry", ["9", '"9x9"', "[7]", "[7, 9, 13]", "[13, 9]", '["7", "9"]', "{ least = 7 }"])
def test_an_entry_of_a_wrong_form_is_one_line(weights: Path, entry: str) -> None:
    (weights / "networks.toml").write_text(f"[judge]\nsmall = [7, 13]\nlarge = {entry}\n")
    done = CliRunner().invoke(main, ["gtp"], input="")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {weights / 'networks.toml'}: large = ")
    assert line.endswith(": expected the least and the most points of the longer side, as in [7, 9]")


def test_a_table_that_is_no_toml_is_one_line(weights: Path) -> None:
    (weights / "networks.toml").write_text("[judge]\nsmall = [7, 13\n")
    with pytest.raises(ValueError, match=r"networks\.toml: Unclosed array"):
        network_on(AUTO, 9, 9)


def test_the_engine_changes_with_the_board(weights: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="gtp_engine")
    with Engine(SETTINGS, width=9) as engine:

        def judged_by() -> str:
            report = engine.evaluate()
            assert (report.width, report.height) == (engine.width, engine.height)
            return engine._thread.submit(lambda worker: worker.evaluator().name).result()

        assert (engine.name, engine.parameters) == ("gtp_engine small", OF_NETWORKS)
        assert judged_by() == "small"
        first = engine._thread.submit(lambda worker: worker._evaluator).result()
        engine.set_parameter("cpuctExploration", 0.7)
        engine.best_move()
        engine.set_board_size(19)
        assert (engine.name, judged_by()) == ("gtp_engine large", "large")
        assert not hasattr(first, "model")  # its memory is given back
        assert engine.parameters == OF_NETWORKS.with_value("c_puct", 0.7)
        engine.set_board_size(25)
        assert (engine.name, judged_by()) == ("gtp_engine", "rollouts")
        assert engine.parameters == SearchParameters(c_puct=0.7)
        engine.load(Game(13))
        assert (engine.name, judged_by()) == ("gtp_engine small", "small")
        engine.set_board_size(9)
        # The same network: nothing is loaded again.
        assert engine._thread.submit(lambda worker: worker._search).result() is not None
    names = [message.split()[0] for message in caplog.messages if "batches of" in message]
    assert names == ["small:", "large:", "small:"]  # nothing about rollouts, which are the default there


def test_a_rank_is_played_by_the_network_of_the_ranks_and_judged_by_the_other(weights: Path) -> None:
    with (weights / "networks.toml").open("a") as table:
        table.write("[ranks]\nsmall = [14, 19]\n")
    with Engine(replace(SETTINGS, rank=Rank(0)), width=19) as engine:
        assert (engine.name, engine.network) == ("gtp_engine small 1k", "small")
        loaded = engine._thread.submit(lambda worker: worker._evaluator).result()
        assert loaded is None  # until somebody asks for a judgement
        played = engine.best_move().report
        judged = engine.evaluate()
        assert not np.allclose(played.priors, judged.priors)
        names = engine._thread.submit(
            lambda worker: [worker.evaluator().name, worker._player.evaluator().name]
        ).result()
        assert names == ["large", "small"]
        assert engine.best_move(rank="max").report.visits == 3
        engine.set_parameter("rank", "max")
        assert engine.name == "gtp_engine large"
        engine.set_board_size(9)
        engine.change_rank(-1)
        assert (engine.name, engine._thread.submit(lambda worker: worker._player).result()) == (
            "gtp_engine small 5d",
            None,
        )


def test_gtp_says_which_network_of_a_board_is_damaged(weights: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (weights / "large.bin.gz").write_bytes(b"no network")
    inbox = Inbox()
    with Engine(SETTINGS, width=9) as engine:
        session = Session(engine, inbox, Mock())
        for line in (b"boardsize 19", b"boardsize 13", b"quit"):
            inbox.post_line(line)
        session.converse()
        engine.ready.result()
    failures = [line for line in capfd.readouterr().err.splitlines() if "cannot load the evaluator" in line]
    assert len(failures) == 1
    assert failures[0].startswith(f"gtp_engine: cannot load the evaluator: {weights / 'large.bin.gz'}: ")


def test_a_named_network_stays(weights: Path) -> None:
    with Engine(EngineSettings("uniform", threads=1, visits=3), width=9) as engine:
        engine.set_board_size(19)
        assert engine.name == "gtp_engine"
        assert engine.evaluate().visits == 3


def test_analysis_has_a_search_for_each_network(weights: Path) -> None:
    schedulers = Schedulers(SETTINGS)
    small, large, rollouts = (schedulers.on_board(size, size) for size in (9, 19, 25))
    assert [scheduler.evaluator.name for scheduler in (small, large, rollouts)] == ["small", "large", "rollouts"]
    assert schedulers.on_board(13, 8) is small
    assert [model["name"] for model in schedulers.models()] == [
        str(weights / f"{name}.bin.gz") for name in ("small", "large")
    ]
    schedulers.close()


def test_selfplay_of_boards_with_different_networks_wants_one_named(weights: Path) -> None:
    assert _network(AUTO, RunSettings(games=GameSettings(sizes={"9": 1.0, "7x13": 1.0}))) == str(
        weights / "small.bin.gz"
    )
    mixed = RunSettings(games=GameSettings(sizes={"9": 1.0, "19": 1.0}))
    with pytest.raises(UsageError, match="these boards have different networks"):
        _network(AUTO, mixed)
    assert _network("uniform", mixed) == "uniform"


def test_a_review_takes_the_records_board(weights: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[9];B[ee];W[cc])")
    done = CliRunner().invoke(main, ["review", str(record), "--visits", "2", "--threads", "1", "-v"])
    assert done.exit_code == 0
    assert "gtp_engine: small: " in capfd.readouterr().err + done.stderr


def test_the_errors_of_bundled_networks_are_known(weights: Path) -> None:
    assert [mean_errors(name) for name in ("large", "small", "none")] == [(2.5, 8), None, None]


def test_the_doctor_says_and_checks_the_defaults(
    weights: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._check_gtp", " ".join)
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._stronger", str)  # the list of networks is not in this folder
    doctor.main([], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    for name, least, most in (("small", 7, 13), ("large", 14, 19)):
        boards = f"{name}, the default on boards of {least} to {most}"
        assert any(
            line.startswith(f"  network      ok, {boards}") and line.endswith(f"{most}x{most}") for line in lines
        )
    assert not any("--network" in line for line in lines)


def test_a_card_is_shown_with_its_network(weights: Path) -> None:
    done = CliRunner().invoke(main, ["network", str(weights / "small.bin.gz")])
    assert done.stdout.endswith("\n\n# small\n\nLearned nothing.\n")
    assert "#" not in CliRunner().invoke(main, ["network", str(weights / "large.bin.gz")]).stdout
