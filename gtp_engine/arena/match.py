"""A match between two GTP engines: several games at a time if asked for, resumed after an interruption."""

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import repeat
from typing import Any

from ..base import interrupts
from ..base.fields import invalid
from ..base.system import WAIT_SECONDS
from ..engine.clock import NO_LIMIT, gtp_settings
from ..go.sgf import GameRecord
from .gtp_client import GtpClient
from .match_settings import EngineMatchSettings, players_by_colour
from .openings import Openings, choose_openings
from .referee import play_game
from .results import FAULTS, GameResult, MatchBook, MatchResult, OnGame, match_record, open_book


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
        UserError: An engine is not a command line, the settings make no sense, or the folder holds another match.
        OSError: A game cannot be saved.
        KeyboardInterrupt: The match was interrupted; the engines have been ended, finished games are saved.
    """
    for engine in (engine_a, engine_b):
        if not isinstance(engine, str):
            raise invalid("engine", engine, "a command line, such as 'gtp_engine gtp'; play_networks is for networks")
    commands, chosen = {"A": engine_a, "B": engine_b}, EngineMatchSettings.of_call("play_match", settings)
    openings = Openings(repeat(())) if chosen.handicap else choose_openings(chosen)
    with open_book(commands, chosen, on_game) as book:
        return _EngineMatch(commands, chosen, openings, book).run()


class _EngineMatch:
    """Plays the missing games of a match in threads; the calling thread keeps the book.

    Each thread has two engines, by player, whose processes are kept from game to game.
    """

    def __init__(
        self, commands: dict[str, str], settings: EngineMatchSettings, openings: Openings, book: MatchBook
    ) -> None:
        self._commands, self._settings, self._openings, self._book = commands, settings, openings, book
        self._stop = threading.Event()
        self._engines: dict[tuple[int, str], GtpClient] = {}  # by thread and player

    def run(self) -> MatchResult:
        if self._book.is_over:
            return self._book.result
        with ThreadPoolExecutor(self._settings.concurrency) as threads:
            games = [threads.submit(self._play, number) for number in self._book.missing]
            try:
                while not self._book.is_over:
                    interrupts.check()  # also if no game ends
                    wait(games, WAIT_SECONDS, FIRST_COMPLETED)
                    for game in filter(Future.done, list(games)):
                        interrupts.check()  # many short games may have ended
                        games.remove(game)
                        result, record = game.result()
                        if result.reason in FAULTS:
                            interrupts.check()  # what ends this program may have ended the engine too
                        self._book.add(result, record)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                self._end_engines()
        return self._book.result

    def _end_engines(self) -> None:
        """Ends all engines, in the middle of a game without `quit`, on which their threads end."""
        self._stop.set()
        engines = list(self._engines.values())
        if self._book.missing:
            for engine in engines:
                engine.abort()
        for engine in engines:
            engine.close()

    def _play(self, number: int) -> tuple[GameResult, GameRecord]:
        """Plays a game; runs in one of the threads."""
        players = players_by_colour(number, self._settings.handicap).values()
        engines = {name: self._engine(name) for name in players}
        result, game = play_game(number, engines, self._openings[number // 2], self._settings)
        record = match_record(game, result)
        time = gtp_settings(*self._settings.time)
        if time != NO_LIMIT:
            record.time_limit = time.main
            record.overtime = f"{time.count}/{time.period:g} Canadian" if time.has_overtime else ""
        return result, record

    def _engine(self, name: str) -> GtpClient:
        """Returns a player's engine for this thread; starts it if it is not running or has failed."""
        key = threading.get_ident(), name
        engine = self._engines.get(key)
        if engine is None or not engine.usable:
            if engine is not None:
                engine.close()
            engine = self._engines[key] = GtpClient(self._commands[name], timeout=self._settings.patience)
            if self._stop.is_set():  # `run` may have ended the engines too early for this one
                engine.abort()
            engine.connect()
        return engine
