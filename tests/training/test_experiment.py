"""An experiment: two settings over several seeds, resumed, refused and summed up."""

from dataclasses import replace
from pathlib import Path

import miniature
import pytest
from click.testing import CliRunner, Result

from gtp_engine.arena.elo import Tally
from gtp_engine.clients.cli import main
from gtp_engine.training.experiment import Side, seeds_for, summary
from gtp_engine.training.run_folder import RunFolder

QUICK = {
    "cycles": "1",
    "games": "12",
    "random_games": "0",
    "samples": "640",
    "visits": "{ 0 = 4 }",
    "network": '"b1c8"',
}


def files(folder: Path, **changed: str) -> list[str]:
    """Writes the settings of A and B, which has the changed ones, and returns the files' names."""
    texts = {"a": miniature.text(**QUICK), "b": miniature.text(**(QUICK | changed))}
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    return [str(folder / f"{name}.toml") for name in texts]


def experiment(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["experiment", *arguments, "--games", "4"])


@pytest.mark.usefixtures("one_process")
def test_two_settings_meet_for_each_seed_and_the_same_command_resumes(tmp_path: Path) -> None:
    out, sides = tmp_path / "ab", files(tmp_path, learning_rate="0.0001")
    one = experiment(str(out), *sides, "--seeds", "1")
    assert one.exit_code == 0, one.output
    *lines, _ = one.stdout.splitlines()
    assert all(line.startswith("seed 1") for line in lines), one.stdout
    assert "one seed does not tell" in one.output
    seeds = {name: RunFolder(out / "seed-1" / name).settings() for name in ("a", "b")}
    assert (seeds["a"].learn.learning_rate, seeds["b"].learn.learning_rate) == (0.005, 0.0001)
    out = out.rename(tmp_path / "moved")  # its match knows the networks by their content
    written = {path: path.stat().st_mtime_ns for path in out.rglob("*.*")}
    two = experiment(str(out), *sides, "--seeds", "2")
    assert two.exit_code == 0, two.output
    assert "A scores " in two.output and "seed 2, B: " in two.output and "seed 1, A: " not in two.output
    assert all(path.stat().st_mtime_ns == time for path, time in written.items() if path.name != "match.json")
    assert RunFolder(out / "seed-2" / "b").settings().cycle.seed == 2
    files(tmp_path, learning_rate="0.0002")
    other = experiment(str(out), *sides)
    assert other.exit_code == 1 and "a run of other settings than those of" in other.stderr
    assert other.stderr.count("\n") == 1


@pytest.mark.usefixtures("one_process")
def test_time_ends_an_experiment_and_names_the_way_on(tmp_path: Path) -> None:
    out, sides = tmp_path / "aa", files(tmp_path)
    stopped = experiment(str(out), *sides, "--minutes", "0.00001")
    assert stopped.exit_code == 0
    assert stopped.output.endswith("time limit reached; run the same command to resume\n")
    assert not (out / "seed-1" / "b").exists()


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (("demo", "nothing.toml"), "nothing.toml"),
        (("START", "demo"), "START: the networks of an experiment train from nothing: remove start"),
        (("demo", "laptop"), "A plays mostly on 7x7 and B on 9x9: their networks could not meet"),
    ],
)
def test_impossible_sides_are_one_line(
    sides: tuple[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "START").write_text(miniature.text(start='"b4c32-9x9"'))
    monkeypatch.chdir(tmp_path)
    refused = experiment(str(tmp_path / "out"), *sides)
    assert refused.exit_code == 1 and message in refused.stderr and refused.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_precision_that_is_left_to_the_program_is_the_same_in_all_runs() -> None:
    settings = miniature.settings()
    auto = replace(
        settings, learn=replace(settings.learn, precision="auto"), machine=replace(settings.machine, precision="auto")
    )
    run = Side("A", "a.toml", auto).of_seed(7)
    assert (run.learn.precision, run.machine.precision, run.cycle.seed) == ("float32", "float32", 7)
    given = replace(auto, learn=replace(auto.learn, precision="bfloat16"))
    assert Side("A", "a.toml", given).of_seed(7).learn.precision == "bfloat16"


def test_the_interval_is_that_of_the_seeds() -> None:
    tallies = {1: Tally(14, 6, 180), 2: Tally(93, 24, 83)}
    text = "\n".join(summary(tallies))
    assert "seed 2: A won 93, lost 83, drew 24; Elo +17 (" in text
    assert "no clear difference" in text  # although the first match alone looks decisive
    clear = summary({seed: Tally(30 + seed, 0, 10 - seed) for seed in range(6)})
    assert clear[-2].endswith("A is better") and "over 6 seeds" in clear[-2]
    assert summary({seed: Tally(10 - seed, 0, 30 + seed) for seed in range(6)})[-2].endswith("B is better")
    assert len(summary({1: Tally(40, 0, 0)})) == 2


def test_a_match_that_one_side_won_entirely_counts_as_its_score_and_has_no_upper_end() -> None:
    lines = summary({1: Tally(40, 0, 0), 2: Tally(38, 0, 2), 3: Tally(39, 0, 1)})
    assert "seed 1: A won 40, lost 0, drew 0; Elo +inf (+407 to +inf)" in lines[0]
    assert lines[-2] == "A scores 97.5% against B: +636 Elo (95 % interval over 3 seeds +408 to +inf): A is better"


def test_as_many_seeds_are_named_as_make_the_interval_narrow_enough() -> None:
    assert seeds_for(0.0, 100.0) == 2
    seeds = seeds_for(100.0, 100.0)
    assert seeds == 7  # 2.447 * 100 / sqrt(7) is 92, 2.571 * 100 / sqrt(6) is 105
    assert seeds_for(1e6, 1.0) == 1000
