"""Finished games on disk: shards, and beside them SGF collections of the same games under the same number.

The shard counts: it is written after its collection, and a collection without one is written over.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files import write_text
from ..game.coords import BLACK
from .samples import SampleGame, pack
from .selfplay import FinishedGame
from .shards import SUFFIX, ShardError, read_notes, write_shard

# Games that wait for others to fill a shard would be lost with the program: no longer than this.
_LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class ShardFacts:
    """What a shard's notes say. samples: positions to learn from. cycle: in which it was played. black: games won by
    black. moves: in all games. decided, checked, upsets: see `selfplay.FinishedGame`; upsets among the checked ones."""

    path: Path
    cycle: int
    games: int
    samples: int
    moves: int
    black: int
    decided: int = 0
    checked: int = 0
    upsets: int = 0


def shard_facts(
    folder: Path, cycle: int | None = None, on_error: Callable[[ShardError], None] | None = None
) -> list[ShardFacts]:
    """The shards of a folder, the oldest first, of one cycle or of all; a damaged one is told to `on_error` and left
    out."""
    facts = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            known = _read_facts(path)
        except ShardError as error:
            if on_error:
                on_error(error)
            continue
        if cycle is None or known.cycle == cycle:
            facts.append(known)
    return facts


def _read_facts(path: Path) -> ShardFacts:
    try:
        return ShardFacts(path, **read_notes(path))
    except TypeError as error:
        raise ShardError(f"{path}: its notes are not those of self-play") from error


class GameWriter:
    """Writes games as they come, `portion` in a file."""

    def __init__(self, shards: Path | None, records: Path | None, portion: int) -> None:
        self._shards, self._records, self._portion = shards, records, portion
        for folder in filter(None, (shards, records)):
            folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.stem) for path in shards.glob(f"*{SUFFIX}") if path.stem.isdecimal()] if shards else []
        self._number = max(numbers, default=0) + 1  # of the next shard
        self._waiting: list[FinishedGame] = []
        self._since = 0.0

    def add(self, game: FinishedGame, cycle: int) -> list[FinishedGame]:
        """Takes a game; gives those that were written by this."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(game)
        return self.flush(cycle) if len(self._waiting) >= self._portion else []

    def flush_late(self, cycle: int) -> list[FinishedGame]:
        """Writes what has waited for too long, and gives it; to be called now and then, since games come seldom."""
        return self.flush(cycle) if time.monotonic() - self._since >= _LONGEST_WAIT else []

    @property
    def waiting(self) -> int:
        """Games not written yet."""
        return len(self._waiting)

    def flush(self, cycle: int) -> list[FinishedGame]:
        """Writes what waits, and gives it. OSError names the file; the games wait on."""
        if not self._waiting:
            return []
        while self._shards and (self._shards / f"{self._number:06d}{SUFFIX}").exists():
            self._number += 1  # another program writes here too
        name = f"{self._number:06d}"
        if self._records:
            text = "".join(game.sgf.strip() + "\n" for game in self._waiting)
            write_text(self._records / f"{name}.sgf", text)
        if self._shards:
            games = [game.sample for game in self._waiting]
            facts = facts_of(games, cycle)
            facts["decided"] = sum(game.is_decided for game in self._waiting)
            facts["checked"] = sum(game.is_checked for game in self._waiting)
            facts["upsets"] = sum(game.is_checked and game.is_upset for game in self._waiting)
            write_shard(pack(games), self._shards / f"{name}{SUFFIX}", facts)
        self._number += 1
        written, self._waiting = self._waiting, []
        return written


def facts_of(games: Sequence[SampleGame], cycle: int) -> dict[str, int]:
    """The notes of a shard of these games, as far as the games say."""
    samples = sum(len(game.moves) if game.weights is None else int((game.weights > 0).sum()) for game in games)
    moves = sum(len(game.moves) for game in games)
    black = sum(game.winner == BLACK for game in games)
    return {"cycle": cycle, "games": len(games), "samples": samples, "moves": moves, "black": black}
