"""A match: many games between two engines, several at a time where asked, continued where it was broken off."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..game.coords import BLACK, WHITE
from ..game.rules import RULESETS, Rules, default_komi, rules_name
from ..search.clock import NO_LIMIT, gtp_settings
from ..sgf import GameRecord, write_sgf
from .gtp_client import GtpClient
from .openings import Opening, choose_openings
from .referee import Conditions, Outcome, play_game
from .results import GameResult, MatchResult, append_result, open_folder
from .sprt import Sprt

# Moves after which a game is broken off, in points of the board: no sensible game comes near it, a cycle does.
MOVES_PER_POINT = 3
# Waits of the main thread are cut into these pieces, so that Ctrl-C is noticed on Windows too.
TICK_SECONDS = 0.2
# How long the threads may take to end their engines.
JOIN_SECONDS = 10.0


@dataclass(frozen=True)
class _Plan:
    """What the threads that play need to know."""

    commands: dict[str, str]
    conditions: Conditions
    openings: list[Opening]


def play_match(
    engine_a: str,
    engine_b: str,
    *,
    games: int,
    width: int = 19,
    height: int | None = None,
    komi: float | None = None,
    rules: Rules = RULESETS["chinese"],
    time: tuple[int, int, int] = (0, 0, 0),
    openings: Path | None = None,
    opening_moves: int = 2,
    seed: int = 0,
    patience: float = 300.0,
    concurrency: int = 1,
    sprt: Sprt | None = None,
    folder: Path | None = None,
    on_game: Callable[[MatchResult, GameResult], None] | None = None,
) -> MatchResult:
    """Plays `games` games between two GTP engines, given by their command lines, and returns the results.

    Every opening is played twice, with either engine as black; "A" has black in the first game. Blocks until all games
    are played, or until `sprt` has decided.

    komi: 7.5, on 9x9 and smaller 7, where None. time: main seconds, byo-yomi seconds and stones of GTP's
    `time_settings`; (0, 0, 0) is no limit. openings: an SGF file or a folder of them, whose games' first
    `opening_moves` moves are played; without it random ones by `seed`. patience: seconds after which an engine without
    a clock has lost. concurrency: games at a time, each with engine processes of its own.
    folder: where each game is saved as SGF and the results as JSON lines; the same match (other numbers of games are
    the same match) continues there. None: nothing is saved.
    on_game: called after each game with all results so far and that game's.

    Raises EngineError where an engine doesn't start or refuses board size, komi or rules; ValueError for settings that
    make no sense or a folder that holds another match; OSError where a game can't be saved. KeyboardInterrupt passes
    through after the engines have been ended. The games saved until then are kept.
    """
    for value, name in ((games, "games"), (concurrency, "concurrency")):
        if value < 1:
            raise ValueError(f"{name} must be 1 or more, not {value}")
    height = width if height is None else height
    komi = default_komi(width, height) if komi is None else komi
    move_cap = MOVES_PER_POINT * width * height
    conditions = Conditions(width, height, komi, rules, gtp_settings(*time), move_cap, patience)
    commands = {"A": engine_a, "B": engine_b}
    chosen = choose_openings(openings, width, height, opening_moves, seed, games)
    done: list[GameResult] = []
    if folder is not None:
        settings = {
            "engine A": engine_a,
            "engine B": engine_b,
            "board": f"{width}x{height}",
            "komi": komi,
            "rules": rules_name(rules) or rules.to_json(),
            "time": list(time),
            "openings": str(openings) if openings else f"random, seed {seed}",
            "opening moves": opening_moves,
        }
        done = [result for result in open_folder(folder, settings) if result.number < games]
    plan = _Plan(commands, conditions, chosen)
    return _Match(plan, games, sprt, folder, done, on_game or _ignore).run(concurrency)


def _ignore(result: MatchResult, game: GameResult) -> None:
    pass


class _Match:
    """A match on its way: the thread that called hands out games, saves them and counts; the others play."""

    def __init__(
        self,
        plan: _Plan,
        planned: int,
        sprt: Sprt | None,
        folder: Path | None,
        done: list[GameResult],
        on_game: Callable[[MatchResult, GameResult], None],
    ) -> None:
        self.plan = plan
        self.planned = planned
        self.sprt = sprt
        self.folder = folder
        self.results = {result.number: result for result in done}
        self.on_game = on_game
        self.stop = threading.Event()
        self.jobs: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[GameResult | Exception] = queue.SimpleQueue()

    def result(self) -> MatchResult:
        games = tuple(self.results[number] for number in sorted(self.results))
        return MatchResult(self.plan.commands, self.planned, games, self.sprt)

    def run(self, concurrency: int) -> MatchResult:
        if self.result().is_over:
            return self.result()
        missing = [number for number in range(self.planned) if number not in self.results]
        for number in missing:
            self.jobs.put(number)
        seats = [_Seat(self.plan, self.folder, self.stop) for _ in range(min(concurrency, len(missing)))]
        threads = [threading.Thread(target=self._work, args=(seat,), daemon=True) for seat in seats]
        for thread in threads:
            thread.start()
        try:
            while not self.result().is_over:
                self._take_answer()
            if len(self.results) == self.planned:  # the threads end by themselves, their engines by `quit`
                for thread in threads:
                    thread.join(JOIN_SECONDS)
        finally:
            self.stop.set()
            for seat in seats:
                seat.abort()
            for thread in threads:
                thread.join(JOIN_SECONDS)
        return self.result()

    def _take_answer(self) -> None:
        try:
            answer = self.answers.get(timeout=TICK_SECONDS)
        except queue.Empty:
            return
        if isinstance(answer, Exception):
            raise answer
        if self.folder is not None:
            append_result(self.folder, answer)
        self.results[answer.number] = answer
        self.on_game(self.result(), answer)

    def _work(self, seat: "_Seat") -> None:
        """Plays games until there are none left; runs in a thread of its own."""
        try:
            while not self.stop.is_set():
                try:
                    number = self.jobs.get_nowait()
                except queue.Empty:
                    break
                result = seat.play(number)
                if not self.stop.is_set():  # else the engines were ended in the middle of the game
                    self.answers.put(result)
        except Exception as error:
            self.answers.put(error)
        finally:
            seat.close()


class _Seat:
    """A pair of engines that play one game after the other; the processes go on from game to game."""

    def __init__(self, plan: _Plan, folder: Path | None, stop: threading.Event) -> None:
        self.plan = plan
        self.folder = folder
        self.stop = stop
        self.clients: dict[str, GtpClient] = {}

    def play(self, number: int) -> GameResult:
        """Plays one game and saves its record."""
        black, white = ("A", "B") if number % 2 == 0 else ("B", "A")
        opening = self.plan.openings[number // 2]
        outcome = play_game(self.client(black), self.client(white), opening, self.plan.conditions)
        engines = {BLACK: black, WHITE: white}
        result = GameResult(
            number=number,
            black=black,
            winner=engines.get(outcome.winner),
            result=outcome.result,
            reason=outcome.reason,
            moves=len(outcome.game.moves),
            names={engine: f"{client.name} {client.version}".strip() for engine, client in self.clients.items()},
            seconds={engines[colour]: round(seconds, 3) for colour, seconds in outcome.seconds.items()},
            claims={engines[colour]: claim for colour, claim in outcome.claims.items()},
            notes=outcome.notes,
            sgf=f"game-{number + 1:04d}.sgf" if self.folder else "",
        )
        if self.folder and not self.stop.is_set():  # else the game was broken off
            record = self.record(outcome, *(f"{result.names[engine]} ({engine})" for engine in (black, white)))
            record.texts["RO"] = str(number + 1)
            write_sgf(record, self.folder / result.sgf, overwrite=True)
        return result

    def record(self, outcome: Outcome, black: str, white: str) -> GameRecord:
        """The game for SGF, with what happened as the comment of its end."""
        comment = "\n".join([outcome.reason, *outcome.notes])
        comments = {len(outcome.game.moves): comment}
        record = GameRecord.from_game(outcome.game, black=black, white=white, result=outcome.result, comments=comments)
        time = self.plan.conditions.time
        if time != NO_LIMIT:
            record.time_limit = time.main
            record.overtime = f"{time.count}/{time.period:g} Canadian" if time.has_overtime else ""
        return record

    def client(self, engine: str) -> GtpClient:
        """The running engine, started where it isn't there or has failed."""
        client = self.clients.get(engine)
        if client is None or not client.usable:
            if client is not None:
                client.close()
            client = GtpClient(self.plan.commands[engine], timeout=self.plan.conditions.patience)
            self.clients[engine] = client
            if self.stop.is_set():  # `abort` may have come too early for this one
                client.abort()
            client.connect()
        return client

    def abort(self) -> None:
        for client in list(self.clients.values()):
            client.abort()

    def close(self) -> None:
        for client in self.clients.values():
            client.close()
