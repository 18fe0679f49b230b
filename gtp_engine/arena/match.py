"""A match between two GTP engines: several games at a time if asked for, resumed after an interruption."""

import queue
import threading
from itertools import repeat
from typing import Any

from ..base import interrupts
from ..base.system import WAIT_SECONDS
from ..engine.clock import NO_LIMIT, gtp_settings
from ..go.sgf import GameRecord
from .gtp_client import GtpClient
from .match_settings import EngineMatchSettings, players_by_colour
from .openings import Openings, choose_openings
from .referee import play_game
from .results import FAULTS, GameResult, MatchBook, MatchResult, OnGame, match_record, open_book

# How long the threads may take to end their engines.
JOIN_SECONDS = 10.0


def play_match(engine_a: str, engine_b: str, *, on_game: OnGame | None = None, **settings: Any) -> MatchResult:
    """Plays a match between two GTP engines and blocks until it is over.

    Args:
        engine_a: Command line of engine "A", which has Black in the first game.
        engine_b: Command line of engine "B".
        on_game: Called after each game with all results so far and that game's.
        **settings: The fields of `EngineMatchSettings`: the number of `games`; the board (`width`, `height`, `komi`,
            `rules`); `time`, as main seconds, byo-yomi seconds and byo-yomi stones; `concurrency`, the number of games
            at a time; the `folder` in which games and results are saved; `sprt`, such as (0, 20), to stop as soon as
            the games decide whether "A" is 20 Elo stronger or no stronger; `openings`, `opening_moves`, `seed` and
            `patience`; `handicap`, the stones that "A" takes. How an engine searches belongs in its command line.

    Returns:
        The results, including those of games that the folder of the match held already.

    Raises:
        EngineError: An engine does not start, or refuses the board size, the komi or the rules.
        UserError: The settings make no sense, or the folder holds another match.
        OSError: A game cannot be saved.
        KeyboardInterrupt: The match was interrupted; the engines have been ended, finished games are saved.
    """
    commands, chosen = {"A": engine_a, "B": engine_b}, EngineMatchSettings.of_call("play_match", settings)
    openings = Openings(repeat(())) if chosen.handicap else choose_openings(chosen)
    with open_book(commands, chosen, on_game) as book:
        return _EngineMatch(commands, chosen, openings, book).run()


class _EngineMatch:
    """Plays the missing games of a match: the calling thread hands them out and keeps the book, the others play.

    Each of these threads has two engines, by player, whose processes are kept from game to game.
    """

    def __init__(
        self, commands: dict[str, str], settings: EngineMatchSettings, openings: Openings, book: MatchBook
    ) -> None:
        self._commands, self._settings, self._openings, self._book = commands, settings, openings, book
        self._stop = threading.Event()
        self._numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[GameResult, GameRecord] | Exception] = queue.SimpleQueue()

    def run(self) -> MatchResult:
        if self._book.is_over:
            return self._book.result
        missing = self._book.missing
        for number in missing:
            self._numbers.put(number)
        pairs: list[dict[str, GtpClient]] = [{} for _ in range(min(self._settings.concurrency, len(missing)))]
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
                for engine in list(pair.values()):
                    engine.abort()
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

    def _play_games(self, pair: dict[str, GtpClient]) -> None:
        """Plays games until none is left; runs in a thread of its own."""
        try:
            while not self._stop.is_set():
                try:
                    number = self._numbers.get_nowait()
                except queue.Empty:
                    break
                answer = self._play(number, pair)
                if not self._stop.is_set():  # otherwise the engines were ended in the middle of the game
                    self._answers.put(answer)
        except Exception as error:
            self._answers.put(error)
        finally:
            for engine in pair.values():
                engine.close()

    def _play(self, number: int, pair: dict[str, GtpClient]) -> tuple[GameResult, GameRecord]:
        players = players_by_colour(number, self._settings.handicap).values()
        engines = {name: self._engine(name, pair) for name in players}
        result, game = play_game(number, engines, self._openings[number // 2], self._settings)
        record = match_record(game, result)
        time = gtp_settings(*self._settings.time)
        if time != NO_LIMIT:
            record.time_limit = time.main
            record.overtime = f"{time.count}/{time.period:g} Canadian" if time.has_overtime else ""
        return result, record

    def _engine(self, name: str, pair: dict[str, GtpClient]) -> GtpClient:
        """Returns a player's engine; starts it if it is not running or has failed."""
        engine = pair.get(name)
        if engine is None or not engine.usable:
            if engine is not None:
                engine.close()
            engine = pair[name] = GtpClient(self._commands[name], timeout=self._settings.patience)
            if self._stop.is_set():  # `run` may have ended the engines too early for this one
                engine.abort()
            engine.connect()
        return engine
