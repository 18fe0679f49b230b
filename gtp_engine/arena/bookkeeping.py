"""Keeps the results of a match, in memory and in a folder in which it resumes."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from ..base.errors import UserError
from ..base.files import folder_lock, write_text
from ..go.game import Game
from ..go.sgf import GameRecord, write_sgf
from .match_settings import MatchSettings
from .results import GameResult, MatchResult

SETTINGS_FILE = "match.json"
RESULTS_FILE = "results.jsonl"

OnGame: TypeAlias = Callable[[MatchResult, GameResult], None]
"""Called after each game with all results so far and that game's."""


class MatchBook:
    """The results of a match, and which games are still to be played; `open_book` makes it.

    Attributes:
        result: The match so far.
        is_over: Whether no further game is needed.
    """

    def __init__(
        self, commands: dict[str, str], settings: MatchSettings, on_game: OnGame | None, saved: list[GameResult]
    ) -> None:
        self._commands = commands
        self._settings = settings
        self._on_game = on_game
        self._results = {result.number: result for result in saved if result.number < settings.games}
        self._update()

    def _update(self) -> None:
        games = tuple(self._results[number] for number in sorted(self._results))
        self.result = MatchResult(self._commands, self._settings.games, games, self._settings.sprt)
        self.is_over = self.result.is_over

    @property
    def missing(self) -> list[int]:
        """The numbers of the games still to be played."""
        return [number for number in range(self._settings.games) if number not in self._results]

    def add(self, result: GameResult, record: GameRecord) -> None:
        """Saves and counts a game. A game that ends after the match was decided is ignored.

        Raises:
            OSError: The record or the result cannot be written.
        """
        if self.is_over:
            return
        folder = self._settings.folder
        if folder is not None:
            result = replace(result, sgf=f"game-{result.number + 1:04d}.sgf")
            write_sgf(record, folder / result.sgf, overwrite=True)
            append_result(folder, result)
        self._results[result.number] = result
        self._update()
        if self._on_game:
            self._on_game(self.result, result)


@contextmanager
def open_book(
    commands: dict[str, str],
    settings: MatchSettings,
    on_game: OnGame | None = None,
    states: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[MatchBook]:
    """Opens the results of a match for a `with` block; the folder is locked meanwhile against other programs.

    A folder without a finished game becomes that of this match: a mistyped command line is to be corrected there.

    Args:
        commands: How each player, "A" and "B", was given.
        settings: The settings of the match.
        on_game: Called with each game that is added.
        states: What else must not change between the pieces of a match, by its name.

    Raises:
        UserError: Another program plays this match, or the folder holds another match or damaged results.
        OSError: The folder cannot be written.
    """
    with ExitStack() as held:
        saved: list[GameResult] = []
        if settings.folder is not None:
            settings.folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(folder_lock(settings.folder))
            saved = _saved_games(settings.folder, {**settings.to_dict(commands), **states})
        yield MatchBook(commands, settings, on_game, saved)


def _saved_games(folder: Path, facts: dict[str, Any]) -> list[GameResult]:
    """Returns the games in a folder; raises UserError if it is that of a match for which other facts hold."""
    file, results = folder / SETTINGS_FILE, folder / RESULTS_FILE
    known = _read_facts(file) if file.exists() else None
    if known is None and results.exists():
        raise UserError(f"{folder} holds the games of a match without its {SETTINGS_FILE}; choose another folder")
    has_games = results.exists() and b"\n" in results.read_bytes()
    # Without the keys of a match it may be another program's file.
    if known is None or (not has_games and known.keys() >= facts.keys()):
        write_text(file, json.dumps(facts, indent=2) + "\n")
        return _read_results(results)
    for key, here in facts.items():
        if (there := known.get(key)) != here:
            raise UserError(f"{folder} holds another match: its {key} is {there}, not {here}; choose another folder")
    return _read_results(results)


def _read_facts(file: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise UserError(f"{file} is damaged: {error}") from error


def _read_results(file: Path) -> list[GameResult]:
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        # The program was ended while it wrote this line; the game is played again.
        lines.pop()
        write_text(file, b"".join(lines).decode())
    results = {}
    for number, line in enumerate(lines, 1):
        try:
            fields = json.loads(line)
            result = GameResult(**fields | {"notes": tuple(fields["notes"])})
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(f"{file}, line {number} is damaged: {error}") from error
        results[result.number] = result
    return list(results.values())


def append_result(folder: Path, result: GameResult) -> None:
    """Appends a game to the results in the folder. Raises OSError with the file's path."""
    file = folder / RESULTS_FILE
    try:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(result)) + "\n")
    except OSError as error:  # that of a full disk names no file
        raise OSError(error.errno, error.strerror, str(file)) from error


def write_json(file: Path, result: MatchResult) -> None:
    """Writes the whole result to a file, atomically."""
    write_text(file, json.dumps(result.to_dict(), indent=2) + "\n")


def is_result_of(file: Path, folder: Path) -> bool:
    """Whether a file is a result, by `write_json`, of the match in this folder: all games of the file are there.

    What is not a regular file is not read: reading a pipe waits until something is written to it.
    """
    if not file.is_file():
        return False
    try:
        games = json.loads(file.read_text(encoding="utf-8"))["games"]
        lines = {json.dumps(game) for game in games}
        return bool(lines) and lines <= set((folder / RESULTS_FILE).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError, TypeError, KeyError):
        return False


def match_record(game: Game, result: GameResult) -> GameRecord:
    """Returns the SGF record of a game; the comment of its last position explains how it ended."""
    black, white = (f"{result.names[player]} ({player})" for player in (result.black, result.white))
    comments = {len(game.moves): "\n".join([result.reason, *result.notes])}
    record = GameRecord.from_game(game, black=black, white=white, result=result.result, comments=comments)
    record.set_text("RO", str(result.number + 1))
    return record
