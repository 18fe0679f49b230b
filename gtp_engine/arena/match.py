"""A match between two GTP engines: several games at a time if asked for, resumed after an interruption."""

import os
import queue
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Required, TypedDict, Unpack

from ..base import interrupts
from ..base.errors import UserError
from ..base.fields import Range, invalid
from ..base.settings import setting
from ..base.system import WAIT_SECONDS
from ..engine.clock import NO_LIMIT, gtp_settings
from ..go.coords import BLACK, is_whole
from ..go.rules import Rules, as_rules
from ..go.sgf import GameRecord
from .bookkeeping import MatchBook, OnGame, match_record, open_book
from .gtp_client import GtpClient
from .match_settings import MOVES_PER_POINT, MatchSettings, players_by_colour
from .openings import Openings
from .referee import Conditions, Outcome, play_game
from .results import FAULTS, GameResult, MatchResult
from .sprt import Sprt, as_sprt

# How long the threads may take to end their engines.
JOIN_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class EngineMatchSettings(MatchSettings):
    """Settings of a match between GTP engines. Each game at a time has engine processes of its own.

    Attributes:
        time: Main seconds, byo-yomi seconds and byo-yomi stones, as in GTP's `time_settings`; (0, 0, 0) for no limit.
        patience: Seconds without an answer after which an engine without a clock has lost.

    Raises:
        UserError: A value is not a number or out of range, or the time settings make no sense (`check_time`).
    """

    time: tuple[int, int, int] = (0, 0, 0)
    patience: float = setting(300.0, accepts=Range(0, above=True, noun="number of seconds"))

    kind: ClassVar[str] = "engine"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time(self.time)

    def conditions(self) -> Conditions:
        """Returns the conditions under which each game is played."""
        board = self.empty_game()
        move_cap = MOVES_PER_POINT * board.area
        time = gtp_settings(*self.time)
        return Conditions(board.width, board.height, board.komi, board.rules, time, move_cap, self.patience)

    def to_dict(self, commands: dict[str, str]) -> dict[str, Any]:
        return super().to_dict(commands) | {"time": list(self.time)}


def check_time(time: tuple[int, int, int]) -> None:
    """Raises UserError if these are not time settings of GTP, or set no limit although they are not all zero."""
    if not isinstance(time, tuple | list) or len(time) != 3 or not all(is_whole(part) and part >= 0 for part in time):
        raise invalid("time", time, "whole numbers of main seconds, byo-yomi seconds and stones, such as (300, 10, 5)")
    main, period, stones = time
    words = f"invalid time {main} {period} {stones}"
    if period and not stones:
        raise UserError(f"{words}: a period needs a number of stones, such as 1 for byo-yomi")
    if stones and not main + period:
        raise UserError(f"{words}: a number of stones needs main time or a period; 0 0 0 means no limit")


class MatchOptions(TypedDict, total=False):
    """The attributes of `EngineMatchSettings`, for the keyword arguments of `play_match`."""

    games: Required[int]
    width: int
    height: int | None
    komi: float | None
    rules: Rules | str
    openings: Path | str | None
    opening_moves: int
    seed: int
    concurrency: int
    sprt: Sprt | tuple[float, float] | None
    folder: Path | str | None
    time: tuple[int, int, int]
    patience: float


def play_match(
    engine_a: str, engine_b: str, *, on_game: OnGame | None = None, **settings: Unpack[MatchOptions]
) -> MatchResult:
    """Plays a match between two GTP engines and blocks until it is over.

    Args:
        engine_a: Command line of engine "A", which has Black in the first game.
        engine_b: Command line of engine "B".
        on_game: Called after each game with all results so far and that game's.
        **settings: The number of `games`, which is required; the board (`width`, `height`, `komi`, `rules`); `time`, as
            main seconds, byo-yomi seconds and byo-yomi stones; `concurrency`, the number of games at a time; the
            `folder` in which games and results are saved; `sprt`, such as (0, 20), to stop as soon as the games decide
            whether "A" is 20 Elo stronger or no stronger; `openings`, `opening_moves`, `seed` and `patience`, which
            `EngineMatchSettings` describes. How an engine searches belongs in its command line.

    Returns:
        The results, including those of games that the folder of the match held already.

    Raises:
        EngineError: An engine does not start, or refuses the board size, the komi or the rules.
        UserError: The settings make no sense, or the folder holds another match.
        OSError: A game cannot be saved.
        KeyboardInterrupt: The match was interrupted; the engines have been ended, finished games are saved.
    """
    converted: dict[str, Any] = dict(settings)
    if "rules" in settings:
        converted["rules"] = as_rules(settings["rules"])
    converted["sprt"] = as_sprt(settings.get("sprt"))
    converted |= {name: _as_path(name, settings.get(name)) for name in ("openings", "folder")}
    return play_engines(engine_a, engine_b, EngineMatchSettings(**converted), on_game)


def _as_path(name: str, value: object) -> Path | None:
    if value is not None and not isinstance(value, str | os.PathLike):
        raise invalid(name, value, "a path")
    return None if value is None else Path(value)


def play_engines(
    engine_a: str, engine_b: str, settings: EngineMatchSettings, on_game: OnGame | None = None
) -> MatchResult:
    """Does what `play_match` does, with the settings in one value."""
    commands = {"A": engine_a, "B": engine_b}
    setup = _Setup(commands, settings.conditions(), settings.choose_openings())
    with open_book(commands, settings, on_game) as book:
        return _EngineMatch(setup, book).run(settings.concurrency)


@dataclass(frozen=True)
class _Setup:
    """What the threads of a match share."""

    commands: dict[str, str]
    conditions: Conditions
    openings: Openings


class _EngineMatch:
    """Plays the missing games of a match: the calling thread hands them out and keeps the book, the others play."""

    def __init__(self, setup: _Setup, book: MatchBook) -> None:
        self._setup = setup
        self._book = book
        self._stop = threading.Event()
        self._numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[GameResult, GameRecord] | Exception] = queue.SimpleQueue()

    def run(self, concurrency: int) -> MatchResult:
        """Plays until the match is over."""
        if self._book.is_over:
            return self._book.result
        missing = self._book.missing
        for number in missing:
            self._numbers.put(number)
        pairs = [EnginePair(self._setup, self._stop) for _ in range(min(concurrency, len(missing)))]
        threads = [threading.Thread(target=self._play_games, args=(pair,), daemon=True) for pair in pairs]
        for thread in threads:
            thread.start()
        try:
            while not self._book.is_over:
                interrupts.check()
                self._wait_for_game()
            if not self._book.missing:  # the threads end by themselves, their engines by `quit`
                for thread in threads:
                    thread.join(JOIN_SECONDS)
        finally:
            self._stop.set()
            for pair in pairs:
                pair.abort()
            for thread in threads:
                thread.join(JOIN_SECONDS)
        return self._book.result

    def _wait_for_game(self) -> None:
        try:
            answer = self._answers.get(timeout=WAIT_SECONDS)
        except queue.Empty:
            return
        if isinstance(answer, Exception):
            raise answer
        if answer[0].reason in FAULTS:
            interrupts.check()  # what ends this program may have ended the engine too
        self._book.add(*answer)

    def _play_games(self, pair: "EnginePair") -> None:
        """Plays games until none is left; runs in a thread of its own."""
        try:
            while not self._stop.is_set():
                try:
                    number = self._numbers.get_nowait()
                except queue.Empty:
                    break
                answer = pair.play(number)
                if not self._stop.is_set():  # otherwise the engines were ended in the middle of the game
                    self._answers.put(answer)
        except Exception as error:
            self._answers.put(error)
        finally:
            pair.close()


class EnginePair:
    """Two engines that play one game after the other; their processes are kept from game to game."""

    def __init__(self, setup: _Setup, stop: threading.Event) -> None:
        self._setup = setup
        self._stop = stop
        self._clients: dict[str, GtpClient] = {}

    def play(self, number: int) -> tuple[GameResult, GameRecord]:
        """Plays a game of the match, by its number."""
        players = players_by_colour(number)
        black, white = (self._client(name) for name in players.values())
        outcome = play_game(black, white, self._setup.openings[number // 2], self._setup.conditions)
        result = GameResult(
            number=number,
            black=players[BLACK],
            winner=players.get(outcome.winner),
            result=outcome.result,
            reason=outcome.reason.value,
            moves=len(outcome.game.moves),
            names={name: f"{client.name} {client.version}".strip() for name, client in self._clients.items()},
            seconds={players[colour]: round(seconds, 3) for colour, seconds in outcome.seconds.items()},
            claims={players[colour]: claim for colour, claim in outcome.claims.items()},
            notes=outcome.notes,
        )
        return result, self._record(outcome, result)

    def _record(self, outcome: Outcome, result: GameResult) -> GameRecord:
        record = match_record(outcome.game, result)
        time = self._setup.conditions.time
        if time != NO_LIMIT:
            record.time_limit = time.main
            record.overtime = f"{time.count}/{time.period:g} Canadian" if time.has_overtime else ""
        return record

    def _client(self, name: str) -> GtpClient:
        """Returns a player's engine; starts it if it is not running or has failed."""
        client = self._clients.get(name)
        if client is None or not client.usable:
            if client is not None:
                client.close()
            client = GtpClient(self._setup.commands[name], timeout=self._setup.conditions.patience)
            self._clients[name] = client
            if self._stop.is_set():  # `abort` may have come too early for this one
                client.abort()
            client.connect()
        return client

    def abort(self) -> None:
        """Ends the engines at once, from any thread."""
        for client in list(self._clients.values()):
            client.abort()

    def close(self) -> None:
        """Ends the engines."""
        for client in self._clients.values():
            client.close()
