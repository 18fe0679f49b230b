"""Finished games on disk: shards, and SGF collections of the same games with the same numbers.

Each shard is written after its collection; a collection without a shard is overwritten. Several programs may write to
one folder: each claims the number of a shard while it writes it (`files.claim`).
"""

import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from ..base.files import claim, write_text
from ..go.coords import BLACK
from .data.samples import GameSet, join
from .data.shards import SUFFIX, ShardError, read_notes, shard_files, write_shard
from .selfplay import FinishedGame

# Seconds. Games that wait until a shard is full would be lost if the program is killed.
LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class ShardFacts:
    """The notes of a shard: the cycle in which its games were played, and numbers."""

    cycle: int
    games: int
    samples: int  # positions to learn from
    moves: int
    black: int  # games won by Black
    decided: int = 0  # games that were decided early (`selfplay.FinishedGame`)
    checked: int = 0  # those of them that were continued as a check
    upsets: int = 0  # those in which the decision was wrong

    @classmethod
    def of(cls, games: GameSet, cycle: int) -> "ShardFacts":
        """Returns the notes of a shard of these games, without those of early decisions."""
        black = int((games.games["winner"] == BLACK).sum())
        return cls(cycle, games.game_count, len(games.samples()), games.positions, black)


def total(shards: Collection[ShardFacts]) -> ShardFacts:
    """Returns the sum of each number over shards."""
    return ShardFacts(*(sum(getattr(shard, item.name) for shard in shards) for item in fields(ShardFacts)))


def shard_facts(
    folder: Path, cycle: int | None = None, on_error: Callable[[ShardError], None] | None = None
) -> dict[Path, ShardFacts]:
    """Returns the notes of the shards in a folder, all or those of a cycle, by their files, the oldest first.

    `on_error` is called for each damaged shard, which is skipped.
    """
    facts = {}
    for path in shard_files(folder):
        try:
            facts[path] = ShardFacts(**read_notes(path))
        except (ShardError, TypeError) as error:
            if on_error:
                on_error(error if isinstance(error, ShardError) else ShardError(f"{path}: not a shard of self-play"))
    return {path: known for path, known in facts.items() if cycle in (None, known.cycle)}


class GameWriter:
    """Writes games of self-play of a cycle in batches, as they are finished, to folders for shards and SGF collections.

    Attributes:
        games: Number of games that were added.
        written: The notes of the shards that were written.
    """

    def __init__(
        self, shards: Path, records: Path, games_per_file: int, cycle: int, longest_wait: float = LONGEST_WAIT
    ) -> None:
        self._shards, self._records, self._games_per_file, self.cycle = shards, records, games_per_file, cycle
        for folder in (shards, records):
            folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.stem) for path in shard_files(shards) if path.stem.isdecimal()]
        self._number = max(numbers, default=0) + 1  # of the next shard
        self._waiting: list[FinishedGame] = []
        self._longest_wait = longest_wait
        self._since = 0.0
        self.games = 0
        self.written: list[ShardFacts] = []

    def add(self, game: FinishedGame) -> None:
        """Adds a game, and writes the waiting ones if they fill a file."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(game)
        self.games += 1
        if len(self._waiting) >= self._games_per_file:
            self.flush()

    def flush_late(self) -> None:
        """Writes the waiting games if they have waited too long. Call this regularly."""
        if time.monotonic() - self._since >= self._longest_wait:
            self.flush()

    def flush(self) -> None:
        """Writes the waiting games. After an OSError they are still waiting."""
        while self._waiting:
            path = self._shards / f"{self._number:06d}{SUFFIX}"
            with claim(path) as is_mine:  # else another program has written or claimed this number
                if is_mine:
                    self._write(path)
            self._number += 1

    def _write(self, path: Path) -> None:
        collection = self._records / f"{path.stem}.sgf"
        write_text(collection, "".join(game.sgf.strip() + "\n" for game in self._waiting))
        games = join([game.sample for game in self._waiting])
        facts = replace(
            ShardFacts.of(games, self.cycle),
            decided=sum(game.is_decided for game in self._waiting),
            checked=sum(game.is_checked for game in self._waiting),
            upsets=sum(game.is_checked and game.is_upset for game in self._waiting),
        )
        try:
            write_shard(games, path, asdict(facts))
        except OSError:
            collection.unlink(missing_ok=True)  # its games count as not written
            raise
        self.written.append(facts)
        self._waiting = []
