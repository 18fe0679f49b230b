"""The benchmark of a network's strength tells its result, whether it has played or not."""

from pathlib import Path

import network_strength
import pytest

from gtp_engine.arena.results import GameResult, MatchResult


def test_a_match_whose_games_exist_is_reported_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = {"black": "A", "result": "B+1", "reason": "score", "moves": 9, "names": {}, "seconds": {}, "claims": {}}
    games = tuple(GameResult(number=number, winner="AB"[number], **game) for number in range(2))
    over = MatchResult({"A": "ours", "B": "other"}, 2, games)
    monkeypatch.setattr(network_strength, "play_match", lambda *engines, **match: over)
    network_strength.play(["ours"], "other", tmp_path, 2)
    folder, line = capsys.readouterr().out.splitlines()
    assert folder == f"results in {tmp_path}" and line.startswith("   2 games:  50.0 % (")
