"""The benchmark of reasons: what it keeps from run to run, and what it counts."""

import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import judged_mistakes
import pytest
import reason_accuracy
from judged_mistakes import Case, packed, unpacked
from reason_accuracy import Judgement
from studies import region

from gtp_engine.study.reasons.facts import find_regions_changed
from gtp_engine.study.reasons.variation import Fact, Study


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> str:
    """What a run with a group of games prints."""
    arguments = (f"{folder / 'games.zip'}:some", "--judge", "uniform", "--network", "uniform")
    monkeypatch.setattr(sys, "argv", ["reason_accuracy.py", *arguments, "--keep", str(folder / "kept"), *options])
    reason_accuracy.main()
    return capsys.readouterr().out


def test_what_was_judged_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    about, asked = region("D2", owned=(0.0, 1.0)), []
    case = Case(1, about.colour, about.move, about.best, packed(about))

    def judged(*_: object) -> Study:
        asked.append(1)
        return region("D2", owned=(0.0, 0.3), lead=4.5)  # which has less to say of what it brings

    monkeypatch.setattr(judged_mistakes, "explained_cases", lambda *_: [replace(case), replace(case, number=2)])
    monkeypatch.setattr(reason_accuracy, "seen_deeper", lambda _, study: study)
    monkeypatch.setattr(reason_accuracy, "study_of", judged)
    with zipfile.ZipFile(tmp_path / "games.zip", "w") as archive:
        archive.writestr("some-00.sgfs", "(;GM[1]SZ[13];B[jj];W[dd])\n" * 2)
        archive.writestr("others-00.sgfs", "not read")
    assert "sentences: 0" in run(monkeypatch, capsys, tmp_path, "--show")
    assert "sentences: 1, that fail: 1 of 1" in run(monkeypatch, capsys, tmp_path, "--sentences", "1")
    whole = run(monkeypatch, capsys, tmp_path)
    assert "sentences: 4, that fail: 4 of 4" in whole and "some-00.sgfs:2 move 2: 6.0 points lost, 4.5 by the" in whole
    assert run(monkeypatch, capsys, tmp_path) == whole == run(monkeypatch, capsys, tmp_path, "--show")
    assert len(asked) == 4


def test_what_was_found_with_other_options_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder(*options: str) -> Path:
        monkeypatch.setattr(sys, "argv", ["reason_accuracy.py", "games.zip", "--judge", "uniform", *options])
        return reason_accuracy.kept_in(reason_accuracy.parse_arguments())

    network = tmp_path / "some network.bin.gz"
    network.write_bytes(b"1")
    changed = [("--visits", "50"), ("--judge-visits", "50"), ("--judge-precision", "int8"), ("--each", "3")]
    changed += [("--seed", "2"), ("--judge", "rollout"), ("--network", str(network))]
    assert len({folder(), *(folder(*option) for option in changed)}) == 1 + len(changed)
    assert folder("--sentences", "3", "--show") == folder()
    before = folder("--network", str(network))
    network.write_bytes(b"2")
    assert folder("--network", str(network)) != before, "the name is the same, and the network another one"


def test_a_study_is_kept_without_its_positions() -> None:
    about = region("D2")
    found = unpacked(about.game, about.colour, packed(about))
    assert found.better.line == about.better.line and found.points_loss == about.points_loss
    assert [len(line.games) for line in (found.played, found.better)] == [2, 2]


def test_what_a_region_brings_has_to_hold_and_not_what_it_costs_elsewhere() -> None:
    (fact,) = find_regions_changed(region("D2", owned=(0.0, 1.0)))
    assert reason_accuracy.holds(fact, Judgement(region("D2", owned=(0.0, 1.0), lead=1.0), {}))
    assert not reason_accuracy.holds(fact, Judgement(region("D2", owned=(0.0, 0.3)), {}))


def test_what_another_move_loses_is_judged_by_the_lead_after_it() -> None:
    about = region("D2", lead=6.0)
    tempting = Fact("also", (about.game.point("G7"),), values={"move": "G7"})
    assert [reason_accuracy.holds(tempting, Judgement(about, {tempting.line[0]: lead})) for lead in (4.0, 4.1)] == [
        True,
        False,
    ]
    case = Case(1, about.colour, about.move, about.best, packed(about), judged=packed(about))
    assert reason_accuracy.judgement(about.game, case, None, [tempting]) is None, "it was not asked about G7"
    assert reason_accuracy.judgement(about.game, replace(case, others={tempting.line[0]: 4.0}), None, [tempting])
