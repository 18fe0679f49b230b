"""`learn --teacher`: from records and a large network to labels, and from labels to a student."""

import json
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from click.testing import CliRunner
from making import random_game, sample_game

from gtp_engine.clients.cli import main
from gtp_engine.training.data.samples import pack
from gtp_engine.training.data.shards import shard_files, write_shard
from gtp_engine.training.distillation import labels as labelling

NETWORKS = Path(__file__).parents[1] / "data" / "networks"
TINY = NETWORKS / "tiny.bin.gz"


def command(records: Path, folder: Path, *more: str) -> list[str]:
    sizes = ["--board-sizes", "5=1,4=1", "--positions", "8000"]
    return [str(records), "--teacher", str(TINY), "--labels", str(folder), *sizes, "--threads", "1", *more]


def test_the_default_network_teaches(records: Path, tmp_path: Path, small_tasks: None) -> None:
    succeed(*command(records, tmp_path, "--label-only", "--teacher", "auto", "--positions", "1"))
    assert json.loads((tmp_path / "labels.json").read_text())["teacher"] == "b10c384h6nbttflrs-int8"
    assert len(list(tmp_path.glob("*.shard"))) == 2  # of each board size


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["learn", *arguments])
    return result.exit_code, result.output


def succeed(*arguments: str) -> str:
    code, text = invoke(*arguments)
    assert code == 0, text
    return text


QUICK = ["--batch-size", "32", "--warm-up", "100", "--precision", "float32"]
SMALL = [*QUICK, "--least-moves", "5"]
TINY_STUDENT = ["--config", "b2c16", "--samples", "64", "--batch-size", "16"]


def test_from_a_teacher_to_a_student(records: Path, tmp_path: Path, small_tasks: None) -> None:
    labels, first, second = (str(tmp_path / name) for name in ("labels", "first", "second"))
    teaching_options = [*command(records, Path(labels))[:-4], "--positions", "300", "--threads", "1", *SMALL]
    text = succeed(*teaching_options, "--config", "b1c8", "--out", first, "--samples", "640")
    assert "5x5-00000: " in text and "off the teacher's policy " in text and "larger" not in text
    log = [json.loads(line) for line in (Path(first) / "log.jsonl").read_text().splitlines()]
    assert {"off_policy", "off_winrate", "off_lead", "off_ownership", "value"} <= log[-1]["validation"].keys()
    # Another student learns from the same labels, without the teacher.
    heir = ["--labels", labels, "--config", "b1c16", "--out", second, "--samples", "64", "--threads", "1", *QUICK]
    assert "off the teacher" in succeed(*heir)
    text = succeed(*teaching_options, "--config", "b6c96", "--out", str(tmp_path / "third"), "--samples", "32")
    assert "warning: the network is larger than its teacher" in text


def test_a_run_keeps_its_teacher_and_its_kind(records: Path, tmp_path: Path, small_tasks: None) -> None:
    """What an option may not change is refused before it is written."""
    labels, student, plain, heir = (tmp_path / name for name in ("labels", "student", "plain", "heir"))
    other, moved = tmp_path / "other.bin.gz", tmp_path / "elsewhere" / "renamed.bin.gz"
    moved.parent.mkdir()
    moved.write_bytes(TINY.read_bytes())
    other.write_bytes((NETWORKS / "human.bin.gz").read_bytes())
    usual = ["--config", "b1c8", "--samples", "64", "--threads", "1", *QUICK]
    teaching_options = [*command(records, labels)[:-4], "--positions", "300"]
    for arguments in (
        [*teaching_options, "--least-moves", "5", "--out", str(student)],
        [str(records), "--least-moves", "5", "--out", str(plain)],
        ["--labels", str(labels), "--out", str(heir)],
    ):
        succeed(*arguments, *usual)

    def refused(run: Path, teacher: Path) -> str:
        before = (run / "settings.toml").read_bytes()
        code, text = invoke("--out", str(run), "--teacher", str(teacher))
        assert code == 1 and text.count("\n") == 1 and (run / "settings.toml").read_bytes() == before
        return text

    for run_folder in (plain, heir):
        assert f"contains a run with teacher = '', not '{TINY}': leave the option out" in refused(run_folder, TINY)
    assert f"{labels} contains labels with teacher = 'tiny', not 'other'" in refused(student, other)
    succeed("--out", str(student))
    succeed("--out", str(student), "--teacher", str(moved))
    assert str(moved) in (student / "settings.toml").read_text()
    moved.unlink()  # all labels are there
    succeed("--out", str(student))
    (labels / labelling.FACTS).unlink()
    assert f"contains a run with teacher = '{moved}', not '{TINY}'" in refused(student, TINY)


def test_a_mistyped_teacher_does_not_replace_a_run_that_has_labels(
    records: Path, tmp_path: Path, small_tasks: None
) -> None:
    other, out = tmp_path / "other.bin.gz", tmp_path / "run"
    other.write_bytes((NETWORKS / "human.bin.gz").read_bytes())
    options = ["--board-sizes", "5=1", "--positions", "300", "--out", str(out), "--config", "b1c8", *SMALL]
    succeed(str(records), "--teacher", str(TINY), *options, "--minutes", "0.000001")
    assert not (out / "state.pt").exists() and shard_files(out / "labels")
    before = (out / "settings.toml").read_bytes()
    for arguments in ([str(records), "--teacher", str(other)], ["--teacher", str(other)]):
        code, text = invoke(*arguments, *options)
        assert code == 1 and "contains labels with teacher = 'tiny', not 'other'; choose another folder" in text
        assert (out / "settings.toml").read_bytes() == before
    assert "32 of 32 (100%) samples learned" in succeed("--out", str(out), "--samples", "32")


def test_bad_input_is_one_line(records: Path, tmp_path: Path) -> None:
    labels, human, empty = tmp_path / "labels", str(NETWORKS / "human.bin.gz"), str(tmp_path / "empty")
    only = command(records, labels, "--label-only")
    without = "--label-only trains no network: omit"
    for arguments, code, error in (
        ([str(records), "--label-only", "--teacher", str(TINY)], 2, "--label-only needs --teacher and --labels"),
        ([*only, "--config", "b1c8"], 2, f"{without} --config"),
        ([*only, "--out", "run"], 2, f"{without} --out"),
        ([*only, "--samples", "100"], 2, f"{without} --samples"),
        ([*only, "--report", "run.html"], 2, f"{without} --report"),
        (["--config", "b1c8"], 2, "give game records, a --teacher, or a folder of --labels to learn from"),
        ([str(records), "--labels", str(labels)], 2, "omit the games"),
        (["--labels", str(labels), "--board-size", "9"], 2, "all the --labels are learned: omit --board-size"),
        ([*only, "--board-sizes", "9=1,25=1"], 2, "invalid board size '25'"),
        ([*only, "--teacher", human], 1, "imitates humans"),
        (["--labels", empty, "--out", str(tmp_path / "run")], 1, f"{empty}: it contains no labels; make some with"),
    ):
        found, text = invoke(*arguments)
        assert found == code and error in text.splitlines()[-1], text
    assert not Path(empty).exists()


def test_shards_of_games_are_no_labels(tmp_path: Path) -> None:
    write_shard(pack([sample_game(random_game(1, 5))]), tmp_path / "000001.shard")
    code, text = invoke("--labels", str(tmp_path), "--out", str(tmp_path / "run"), *QUICK)
    assert code == 1
    assert (
        f"Error: {tmp_path}: it contains shards, but no labels.json: copy it too if they are labels of a teacher, or "
        "choose another folder" in text
    )


def test_labels_that_exist_already_are_enough_to_learn_from(records: Path, tmp_path: Path, small_tasks: None) -> None:
    labels = [*command(records, tmp_path / "labels")[:-6], "--board-sizes", "5=1", "--positions"]
    for more in (["300", "--label-only"], ["60", "--out", str(tmp_path / "run"), *TINY_STUDENT]):
        succeed(*labels, *more)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (["--since", "2090"], "no games to learn from"),
        (["--teacher", str(NETWORKS / "human.bin.gz")], "choose another network"),
    ],
)
def test_what_fails_before_the_first_label_does_not_tie_the_folder_to_it(
    wrong: list[str], error: str, records: Path, tmp_path: Path, small_tasks: None
) -> None:
    labels = [*command(records, tmp_path)[:-6], "--board-sizes", "5=1", "--positions", "120", "--label-only"]
    code, text = invoke(*labels, *wrong)
    assert (code, error in text) == (1, True)
    succeed(*labels)
    name = wrong[0].removeprefix("--")
    assert re.search(f"contains labels with {name} = .*; choose another folder", invoke(*labels, *wrong)[1])


def test_a_gpu_without_memory_ends_the_labelling_in_one_line(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "fill_labels", Mock(side_effect=torch.OutOfMemoryError("no memory\nfor 3 GB")))
    code, text = invoke(*command(records, tmp_path / "labels", "--label-only"))
    assert code == 1
    message = "Error: no memory for 3 GB; the finished labels are kept: run the same command to resume"
    assert text.splitlines()[-1] == message
