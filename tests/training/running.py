"""Checks of whole runs: the folder of a finished run, and processes."""

import json
from itertools import pairwise
from pathlib import Path

from gtp_engine.go.sgf import GameRecord, read_sgf_games
from gtp_engine.training.data.shards import read_shard
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.run_settings import RunSettings
from gtp_engine.training.storage import shard_facts


def check_whole(folder: RunFolder, settings: RunSettings) -> None:
    """Checks that no cycle, network, game or record is missing or there twice."""
    cycles = range(1, settings.cycle.cycles + 1)
    lines = [json.loads(line) for line in folder.log_file.read_text().splitlines()]
    assert [line["cycle"] for line in lines] == list(cycles)
    assert sorted(path.name for path in folder.networks.iterdir()) == [f"{cycle:04d}.bin.gz" for cycle in (0, *cycles)]
    numbers: list[int] = []
    for line in lines:
        shards = shard_facts(folder.shards, line["cycle"])
        assert sum(shard.games for shard in shards.values()) == line["games"] >= settings.cycle.games
        assert sum(shard.samples for shard in shards.values()) == line["new_samples"]
        for path in shards:
            games = read_shard(path)
            records = list(read_sgf_games(folder.records / f"{path.stem}.sgf"))
            written = [int(record.root.text("GN")) for record in records if isinstance(record, GameRecord)]
            assert games.games["number"].tolist() == written
            numbers += written
    assert len(set(numbers)) == len(numbers)
    of_cycles = [facts for facts in shard_facts(folder.shards).values() if facts.cycle]
    assert len(list(folder.records.iterdir())) == len(of_cycles)
    random_games = [read_shard(path) for path in shard_facts(folder.shards, 0)]
    assert sum(games.game_count for games in random_games) == settings.cycle.random_games
    state, _ = folder.load()
    totals = [line["samples"] for line in lines]
    assert [after - before for before, after in pairwise(totals)] == [settings.learn.samples] * (len(totals) - 1)
    assert state.begun == totals[-1]
    assert not list(folder.path.rglob(".*")), "temporary files were left"


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
