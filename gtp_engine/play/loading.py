"""Saved games that can be continued: those that `play` saved, and other records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import UserError
from ..base.messages import plural
from ..game.coords import BLACK, WHITE
from ..game.game import Game
from ..game.rules import Rules
from ..sgf import GameRecord, SgfError, read_sgf
from .ranks import Rank, as_rank

HUMAN = "human"  # the name that `play` gives human players in its records
_PROGRAM = "gtp_engine"
# The engine's name in a record (`Engine.name`): the program, a network if there was one, a rank if it played at one.
_ENGINE_NAME = re.compile(_PROGRAM + r"(?: (?!\d+[kd]$)(?P<network>.+?))?(?: (?P<rank>\d+[kd]))?")
_OLD_LEVEL = re.compile(r" level \w+$")  # of earlier versions
_UNFINISHED = ("", "?", "void")  # results in RE, in lower case, of games that nobody has won or drawn


@dataclass(frozen=True)
class Opponent:
    """The engine that played a saved game.

    Attributes:
        network: The name of its network; None for rollouts.
        rank: Its rank; None for full strength.
    """

    network: str | None
    rank: Rank | None


@dataclass(frozen=True)
class SavedGame:
    """A saved game, up to the move after which it continues.

    Attributes:
        path: Its file; None for a record that is in no file.
        game: The position with its history, komi and rules.
        humans: The colours that humans play: those of the record, or the player to move if it names none.
        comments: The comments by the number of the move in `game`.
        opponent: The engine that played it; None if `play` did not save it, or for two humans.
        is_own: Whether `play` saved it, and it is continued from its end: saving may then update the file.
        date: The date of the record.
        players: The names in the record by colour, "" for none.
        result: The result in the record, "" for none.
    """

    path: Path | None
    game: Game
    humans: frozenset[int]
    comments: dict[int, str]
    opponent: Opponent | None
    is_own: bool
    date: str
    players: dict[int, str]
    result: str

    def in_words(self) -> str:
        """Returns a line about what is continued, and whether its file is updated."""
        saving = "" if self.is_own else "; it will be saved as a new game"
        return f"continuing {self.path} after {plural(len(self.game.moves), 'move')}{saving}"


def open_game(
    path: Path, *, move: int | None = None, rules: Rules | None = None, komi: float | None = None
) -> SavedGame:
    """Reads a saved game to continue it.

    Args:
        path: The file.
        move: How many moves to keep; all if None, but then the game must be unfinished.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.

    Raises:
        UserError: The file is not a game that can be continued; the message names the reason.
        OSError: The file cannot be read.
    """
    record = read_sgf(path)
    if move is None and is_finished(record):
        count = len(record.moves)
        raise UserError(
            f"{path}: the game is finished ({record.result}); to continue it after move N, 0 to {count}, add --move N, "
            "or in a game type load FILE N; `gtp_engine review` finds the mistakes"
        )
    return open_record(record, path, move=move, rules=rules, komi=komi)


def open_record(
    record: GameRecord,
    path: Path | None = None,
    *,
    move: int | None = None,
    rules: Rules | None = None,
    komi: float | None = None,
) -> SavedGame:
    """Returns a record as a game to continue, also if it is finished.

    Args:
        record: The record.
        path: Its file, if it is in one.
        move: How many moves to keep; all if None.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.

    Raises:
        UserError: It cannot be replayed, or has fewer moves.
    """
    count = len(record.moves)
    if move is not None and move > count:
        raise UserError(f"{path or record.source}: there is no move {move}, the game has {plural(count, 'move')}")
    game = record.to_game(move, rules=rules)
    if komi is not None:
        game.set_komi(komi)
    return SavedGame(
        path=path,
        game=game,
        humans=_humans(record) or frozenset((game.to_move,)),
        comments=_comments(record, game, count if move is None else move),
        opponent=_opponent(record),
        is_own=path is not None and _is_own(record) and not is_finished(record) and len(game.moves) == count,
        date=record.date,
        players={BLACK: record.black, WHITE: record.white},
        result=record.result.strip(),
    )


def find_game(name: str, folder: Path) -> Path:
    """Returns the file that a player names: a path, or the name of a file in the folder, with or without `.sgf`.

    Raises:
        UserError: The file is not found.
    """
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # there is no such home folder
        path = Path(name)
    for candidate in (path, folder / path, folder / f"{name}.sgf"):
        if candidate.is_file():
            return candidate
    raise UserError(f"no saved game {name!r}: no such file, and none in {folder}")


def latest_unfinished(folder: Path, other_than: Path | None = None) -> Path:
    """Returns the unfinished game that was last saved in the folder.

    Raises:
        UserError: There is none.
    """
    path = next((path for path in unfinished_games(folder) if path != other_than), None)
    if path is None:
        raise UserError(f"no unfinished game in {folder}")
    return path


def unfinished_games(folder: Path) -> Iterator[Path]:
    """Yields the unfinished games with moves that `play` saved in the folder, the latest first."""
    files = [(path.stat().st_mtime, path) for path in folder.glob("*.sgf") if path.is_file()]
    for _, path in sorted(files, reverse=True):
        try:
            record = read_sgf(path)
        except (SgfError, OSError):
            continue
        if _is_own(record) and record.moves and not is_finished(record):
            yield path


def _is_own(record: GameRecord) -> bool:
    return record.application.startswith(_PROGRAM) and HUMAN in (record.black, record.white)


def is_finished(record: GameRecord) -> bool:
    """Whether somebody has won the game of a record, or it was drawn."""
    return record.result.strip().lower() not in _UNFINISHED


def _humans(record: GameRecord) -> frozenset[int]:
    names = {BLACK: record.black, WHITE: record.white}
    return frozenset(colour for colour, name in names.items() if name == HUMAN)


def _opponent(record: GameRecord) -> Opponent | None:
    if not _is_own(record):
        return None
    name = record.white if record.black == HUMAN else record.black
    match = _ENGINE_NAME.fullmatch(name)
    if match is None or _OLD_LEVEL.search(name):
        return None
    try:
        return Opponent(match["network"], as_rank(match["rank"]))
    except UserError:
        return None  # a rank of another version


def _comments(record: GameRecord, game: Game, kept: int) -> dict[int, str]:
    """Returns the comments of the start and the first `kept` moves by their number in the game.

    A set-up after the first move begins the game anew, from its number 0.
    """
    comments = [record.nodes[0].comment, *(node.comment for node in record.nodes if node.move is not None)][: kept + 1]
    start = len(game.moves) - kept
    return {number: text for number, text in enumerate(comments, start) if text and number >= 0}
