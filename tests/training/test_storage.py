"""Finished games on their way to disk."""

import errno
import os
from pathlib import Path
from unittest.mock import Mock

import miniature
import pytest
from click.testing import CliRunner
from making import Kept, finished_game

from gtp_engine.clients.cli import main
from gtp_engine.training import selfplay_games, storage
from gtp_engine.training.data.shards import ShardError, read_shard, write_shard
from gtp_engine.training.selfplay import Counts
from gtp_engine.training.selfplay_games import SelfPlayGames
from gtp_engine.training.storage import GameWriter, shard_facts


def games_in(shards: Path) -> list[int]:
    return [facts.games for facts in shard_facts(shards).values()]


def test_games_are_written_in_portions_or_when_they_have_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(storage.time, "monotonic", lambda: now)
    shards = tmp_path / "shards"
    writer = GameWriter(shards, tmp_path / "sgf", games_per_file=2, cycle=1)
    writer.flush_late()
    writer.add(finished_game(1))
    assert games_in(shards) == []
    writer.add(finished_game(2))
    now += 100
    writer.add(finished_game(3))
    now += 59
    writer.flush_late()
    assert games_in(shards) == [2]
    now += 1
    writer.flush_late()
    assert games_in(shards) == [2, 1] == [facts.games for facts in writer.written]
    assert writer.games == 3
    assert [facts.cycle for facts in shard_facts(shards, cycle=1).values()] == [1, 1] and not shard_facts(shards, 0)
    assert (tmp_path / "sgf" / "000002.sgf").read_text() == "(;SZ[5]GN[3])\n"


def test_two_programs_that_write_at_the_same_time_choose_different_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (GameWriter(tmp_path / "shards", tmp_path / name, games_per_file=1, cycle=0) for name in "ab")

    def write(*arguments: object) -> None:
        monkeypatch.setattr(storage, "write_shard", write_shard)
        second.add(finished_game(2))  # when the first one has chosen its number
        write_shard(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "write_shard", write)
    first.add(finished_game(1))
    numbers = {path.name: read_shard(path).games["number"].tolist() for path in (tmp_path / "shards").iterdir()}
    assert numbers == {"000001.shard": [1], "000002.shard": [2]}
    assert (tmp_path / "a" / "000001.sgf").exists() and (tmp_path / "b" / "000002.sgf").exists()
    first.add(finished_game(3))
    assert games_in(tmp_path / "shards") == [1, 1, 1]


def test_temporary_files_are_not_shards(tmp_path: Path) -> None:
    GameWriter(tmp_path, tmp_path, games_per_file=1, cycle=0).add(finished_game(1))
    for content in (b"half", (tmp_path / "000001.shard").read_bytes()):
        (tmp_path / ".000002.12345.tmp.shard").write_bytes(content)
        assert [path.name for path in shard_facts(tmp_path, on_error=pytest.fail)] == ["000001.shard"]


def test_damaged_shards_are_reported(tmp_path: Path) -> None:
    writer = GameWriter(tmp_path, tmp_path, games_per_file=1, cycle=0)
    for number in range(4):
        writer.add(finished_game(number))
    shards = sorted(tmp_path.glob("*.shard"))
    shards[0].write_bytes(shards[0].read_bytes()[:30])
    write_shard(read_shard(shards[1]), shards[1], {"author": "somebody"})
    shards[3].write_bytes(shards[3].read_bytes()[:-1])
    errors: list[ShardError] = []
    assert list(shard_facts(tmp_path, on_error=errors.append)) == [shards[2]]
    assert "000001.shard: not a shard, or cut short" in str(errors[0])
    assert "000002.shard: not a shard of self-play" in str(errors[1])
    assert "000004.shard: not a shard, or cut short" in str(errors[2])


@pytest.fixture
def three_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that have played three games."""
    pool = Mock(counts=Counts(), collect=lambda seconds: map(finished_game, range(3)))
    monkeypatch.setattr(selfplay_games, "SelfPlayPool", lambda *arguments: pool)


def test_games_that_a_full_disk_refuses_do_not_count_as_saved(
    three_games: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        if (tmp_path / "000001.shard").exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_shard(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "write_shard", refuse)
    games = SelfPlayGames(miniature.settings(shard_games="2"), "none", 6, tmp_path, tmp_path)
    with pytest.raises(OSError, match="No space left on device"):
        games.play(1, Kept())
    assert games.saved.games == 2 and games.summary().startswith("2 games; ")
    assert [path.name for path in sorted(tmp_path.glob("[!.]*"))] == ["000001.sgf", "000001.shard"]


def test_a_full_disk_at_the_first_shard_is_one_line(
    three_games: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "disk")
    monkeypatch.setattr(storage, "write_shard", Mock(side_effect=error))
    command = ["selfplay", "--network", "none", "--games", "3", "--sgf-dir", str(tmp_path)]
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, "Error: disk: No space left on device")
    assert "no game was saved" in done.stdout
