"""Keeps the results of a match: counts them, saves them, and knows which games are still to be played."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from ..base.files import folder_lock
from ..game.game import Game
from ..sgf import GameRecord, write_sgf
from .results import GameResult, MatchResult, append_result, open_folder
from .settings import MatchSettings

OnGame: TypeAlias = Callable[[MatchResult, GameResult], None]
"""Called after each game with all results so far and that game's."""


class MatchBook:
    """The results of a match, in memory and in its folder.

    Args:
        commands: How each player, "A" and "B", was given.
        settings: The settings of the match.
        on_game: Called with each game that is added.
        states: What else must not change between the pieces of a match, by its name.

    Raises:
        UserError: The folder holds a match with other settings, or damaged results.
        OSError: The folder cannot be written.
    """

    def __init__(
        self,
        commands: dict[str, str],
        settings: MatchSettings,
        on_game: OnGame | None,
        states: Mapping[str, str],
    ) -> None:
        self._commands = commands
        self._settings = settings
        self._on_game = on_game
        saved = open_folder(settings.folder, {**settings.to_dict(commands), **states}) if settings.folder else []
        self._results = {result.number: result for result in saved if result.number < settings.games}
        self._update()

    def _update(self) -> None:
        games = tuple(self._results[number] for number in sorted(self._results))
        self.result = MatchResult(self._commands, self._settings.games, games, self._settings.sprt)
        """The match so far."""
        self.is_over = self.result.is_over
        """Whether no further game is needed."""

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

    The arguments are those of `MatchBook`.

    Raises:
        UserError: Another program plays this match, or the folder holds another match or damaged results.
        OSError: The folder cannot be written.
    """
    with ExitStack() as held:
        if settings.folder is not None:
            settings.folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(folder_lock(settings.folder))
        yield MatchBook(commands, settings, on_game, states)


def match_record(game: Game, result: GameResult) -> GameRecord:
    """Returns the SGF record of a game; the comment of its last position explains how it ended."""
    black, white = (f"{result.names[player]} ({player})" for player in (result.black, result.white))
    comments = {len(game.moves): "\n".join([result.reason, *result.notes])}
    record = GameRecord.from_game(game, black=black, white=white, result=result.result, comments=comments)
    record.set_text("RO", str(result.number + 1))
    return record
