"""Finished games on disk: shards, and SGF collections of the same games with the same numbers.

Each shard is written after its collection; a collection without a shard is overwritten. Several programs may write to
one folder: each claims the number of a shard while it writes it (`files.claim`).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...base.files import claim, write_text
from ...game.coords import BLACK
from ..selfplay import FinishedGame
from .samples import SampleGame, pack
from .shards import SUFFIX, ShardError, read_notes, shard_files, write_shard

# Seconds. Games that wait until a shard is full would be lost if the program is killed.
_LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class ShardFacts:
    """The notes of a shard.

    Attributes:
        path: The file.
        cycle: Cycle in which the games were played.
        games: Number of games.
        samples: Number of positions to learn from.
        moves: Number of moves of all games.
        black: Number of games won by Black.
        decided: Number of games that were decided early (`selfplay.FinishedGame`).
        checked: Number of those that were continued as a check.
        upsets: Number of those in which the decision was wrong.
    """

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
    """Reads the notes of the shards in a folder.

    Args:
        folder: The folder.
        cycle: Only shards of this cycle; None for all.
        on_error: Called for each damaged shard, which is skipped.

    Returns:
        The notes, the oldest first.
    """
    facts = []
    for path in shard_files(folder):
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
        raise ShardError(f"{path}: not a shard of self-play") from error


class GameWriter:
    """Writes games in batches, as they are finished.

    Args:
        shards: Folder for shards; None for none.
        records: Folder for SGF collections; None for none.
        games_per_file: Number of games in a file.
    """

    def __init__(self, shards: Path | None, records: Path | None, games_per_file: int) -> None:
        self._shards, self._records, self._games_per_file = shards, records, games_per_file
        for folder in filter(None, (shards, records)):
            folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.stem) for path in shard_files(shards) if path.stem.isdecimal()] if shards else []
        self._number = max(numbers, default=0) + 1  # of the next shard
        self._waiting: list[FinishedGame] = []
        self._since = 0.0

    def add(self, game: FinishedGame, cycle: int) -> list[FinishedGame]:
        """Adds a game; returns the games that are written now."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(game)
        return self.flush(cycle) if len(self._waiting) >= self._games_per_file else []

    def flush_late(self, cycle: int) -> list[FinishedGame]:
        """Writes the waiting games if they have waited too long, and returns them. Call this regularly."""
        return self.flush(cycle) if time.monotonic() - self._since >= _LONGEST_WAIT else []

    @property
    def waiting(self) -> int:
        """The number of games that are not written yet."""
        return len(self._waiting)

    def flush(self, cycle: int) -> list[FinishedGame]:
        """Writes the waiting games and returns them. After an OSError they are still waiting."""
        if not self._waiting:
            return []
        with self._free_name() as name:
            self._write(name, cycle)
        self._number += 1
        written, self._waiting = self._waiting, []
        return written

    @contextmanager
    def _free_name(self) -> Iterator[str]:
        """Claims the next number that no other program has written or claimed, and yields it as the files' name."""
        while self._shards:
            name = f"{self._number:06d}"
            with claim(self._shards / f"{name}{SUFFIX}") as is_mine:
                if is_mine:
                    yield name
                    return
            self._number += 1
        yield f"{self._number:06d}"

    def _write(self, name: str, cycle: int) -> None:
        if self._records:
            text = "".join(game.sgf.strip() + "\n" for game in self._waiting)
            write_text(self._records / f"{name}.sgf", text)
        if self._shards:
            games = [game.sample for game in self._waiting]
            facts = facts_of(games, cycle)
            facts["decided"] = sum(game.is_decided for game in self._waiting)
            facts["checked"] = sum(game.is_checked for game in self._waiting)
            facts["upsets"] = sum(game.is_checked and game.is_upset for game in self._waiting)
            try:
                write_shard(pack(games), self._shards / f"{name}{SUFFIX}", facts)
            except OSError:
                if self._records:
                    (self._records / f"{name}.sgf").unlink(missing_ok=True)  # its games count as not written
                raise


def facts_of(games: Sequence[SampleGame], cycle: int) -> dict[str, int]:
    """Returns the notes of a shard of these games, without those of early decisions."""
    samples = sum(int((game.weights > 0).sum()) if len(game.weights) else len(game.moves) for game in games)
    moves = sum(len(game.moves) for game in games)
    black = sum(game.winner == BLACK for game in games)
    return {"cycle": cycle, "games": len(games), "samples": samples, "moves": moves, "black": black}
