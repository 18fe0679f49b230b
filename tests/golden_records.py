"""Positions that KataGo's own inputs were recorded for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gtp_engine.go.coords import BLACK, WHITE, parse_colour, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import parse_rules

Record = dict[str, Any]


def own_records() -> list[Record]:
    """Some of the small ones, kept with the tests."""
    file = Path(__file__).parent / "data" / "inputs.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


def records(shared: Path) -> Iterator[Record]:
    """Every recorded position but those of the cleanup phase, which this engine never enters."""
    for file in sorted((shared / "katago" / "golden").glob("*.jsonl")):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            if record.get("preventCleanupPhase", True):
                yield record


def position_of(record: Record) -> Game:
    width, height = record["size"]
    game = Game(width, height, rules=parse_rules(json.dumps(record["rules_full"])), komi=record["komi"])
    if "handicap" in record:
        game.place_handicap([parse_vertex(name, width, height) for name in record["handicap"]])
    if "setup" in record:
        stones = [(parse_colour(colour), parse_vertex(name, width, height)) for colour, name in record["setup"]]
        game.set_up([p for c, p in stones if c == BLACK], [p for c, p in stones if c == WHITE])
    for colour, name in record["moves"]:
        game.play(parse_colour(colour), parse_vertex(name, width, height))
    game.to_move = parse_colour(record["to_move"])
    return game
