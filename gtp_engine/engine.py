"""One game being played: position, clock, search and the decision what to play.

The position belongs to the thread that calls; searches run on a thread of the engine's own, on a copy of the game, and
answer through futures. That thread imports and compiles the core and makes the evaluator: making an engine takes no
time, and size, komi and rules can be set while it is busy.
"""

import math
import os
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .evaluate.choices import AUTO, LARGEST_BOARD, network_on, too_large
from .game.coords import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE
from .game.rules import RULESETS, Rules, default_komi
from .network.library import network_name
from .search.clock import Clock
from .search.levels import Level, check_level, visits_at
from .search.parameters import (
    WITHOUT_NETWORK,
    SearchParameters,
    default_parameters,
    find_parameter,
    parameter_names,
)
from .search.thinker import RawEvaluation, Request, SearchThread, Thinker

if TYPE_CHECKING:
    import threading

    import numpy as np

    from .game.game import Game
    from .game.scoring import Score
    from .search.report import SearchReport
    from .search.search import Limits, RootMoves

DEFAULT_SECONDS = 5.0
# An engine that nobody closed: how long the end of the program waits for the batch in flight.
_LAST_WAIT = 0.5
# KataGo's names of the limits that are settings of the engine, not of the search.
_LIMIT_NAMES = {"visits": "visits", "maxVisits": "visits", "seconds": "seconds", "maxTime": "seconds"}


def new_thinker(settings: "EngineSettings") -> Thinker:
    """What thinks as the settings say, without a game; their network is named (`EngineSettings.on_board`)."""
    machine = settings.threads, settings.seed, settings.device, settings.precision
    return Thinker(settings.network, *machine, strict=settings.strict)


def processor_threads() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class EngineSettings:
    """How an engine thinks and behaves.

    network: the evaluator, see `evaluate.factory`; "auto" for the shipped network that is meant for the board, or
    rollouts. threads: CPU threads. device, precision: where and how exactly a network is computed, see
    `evaluate.network`. strict: boards that are too large for the network are refused, and not played by rollouts.
    seed: with it, fixed visits and one thread a game repeats exactly.
    parameters: of the search by name, where they are to differ from those that suit the network.
    visits, seconds: limits for a move, None where not given; without both and without a clock it is 5 s.
    level: 1 (weakest) to 10, or "max"; ValueError for another.
    ponder: whether it thinks in the opponent's time.
    resign: whether it may resign, when its win rate was below `resign_threshold` for `resign_moves` moves in a row.
    """

    network: str = AUTO
    threads: int = field(default_factory=processor_threads)
    device: str = AUTO
    precision: str = AUTO
    strict: bool = False
    seed: int | None = None
    visits: int | None = None
    seconds: float | None = None
    level: Level = "max"
    ponder: bool = False
    resign: bool = True
    resign_threshold: float = 0.05
    resign_moves: int = 3
    parameters: Mapping[str, str | float | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_level(self.level)
        profile = self.search_parameters(self.network).profile
        if profile and self.network in (AUTO, *WITHOUT_NETWORK):
            raise ValueError(f"the profile {profile} needs a network that imitates people: --network FILE")

    def search_parameters(self, network: str) -> SearchParameters:
        """What suits that network, with these parameters; ValueError for a wrong one."""
        parameters = default_parameters(network)
        for name, value in self.parameters.items():
            parameters = parameters.with_value(name, value)
        return parameters

    def on_board(self, width: int, height: int) -> "EngineSettings":
        """The same with the network for that board by name."""
        return replace(self, network=network_on(self.network, width, height))


@dataclass(frozen=True)
class Decision:
    """What the engine wants to play for `colour`: a point, `PASS`, or to resign (`point` is PASS then).

    started: `time.monotonic()` when it was asked; budget: the seconds it meant to take, None without a clock.
    hopeless: whether the position counts as one to resign. report: the search behind it.
    """

    colour: int
    point: int
    resign: bool = False
    report: "SearchReport | None" = None
    started: float = 0.0
    budget: float | None = None
    hopeless: bool = False


class Engine:
    """One game against or by the engine.

    The state methods act at once and end pondering; `genmove`, `analyze` and the other searches give futures. All of
    them are for one thread. Closing ends the search thread; a `with` block does it.
    """

    def __init__(
        self,
        settings: EngineSettings | None = None,
        *,
        width: int = 19,
        height: int | None = None,
        rules: Rules = RULESETS["chinese"],
        komi: float | None = None,
    ) -> None:
        self.settings = settings or EngineSettings()
        self.clock = Clock()
        self._rules = rules
        self._sent_komi = komi
        self._game: Game | None = None
        self._hopeless_moves = {BLACK: 0, WHITE: 0}
        self._thread = SearchThread()
        weakref.finalize(self, self._thread.close, _LAST_WAIT)
        self._network = ""
        self._thinker = new_thinker(self.settings)
        self.ready: Future[None]
        """Done when the core is compiled and the board's evaluator loaded; holds the error where that failed."""
        self.set_board_size(width, height)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """What game records call it: the program with its network and its level."""
        network, level = self._network, self.settings.level
        words = ["gtp_engine"]
        if network not in WITHOUT_NETWORK:
            words.append(network_name(Path(network)))
        if level != "max":
            words.append(f"level {level}")
        return " ".join(words)

    # The game.

    @property
    def width(self) -> int:
        """The board's columns."""
        return self._width

    @property
    def height(self) -> int:
        """The board's rows."""
        return self._height

    @property
    def komi(self) -> float:
        """White's points: those that were given, or the usual ones of the board's size."""
        return self.komi_on(self._width, self._height)

    def komi_on(self, width: int, height: int) -> float:
        """White's points on a board of that size: those that were given, or the usual ones."""
        return default_komi(width, height) if self._sent_komi is None else self._sent_komi

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._rules

    @property
    def game(self) -> "Game":
        """The game so far. To be changed through the engine's methods; the first access imports the compiled board."""
        if self._game is None:
            from .game.game import Game

            self._game = Game(self._width, self._height, rules=self._rules, komi=self.komi)
        return self._game

    def set_board_size(self, width: int, height: int | None = None) -> None:
        """Begins a game on an empty board of that size; ValueError for a size out of range. A given komi stays."""
        height = width if height is None else height
        if not (MIN_SIZE <= width <= MAX_SIZE and MIN_SIZE <= height <= MAX_SIZE):
            raise ValueError(f"unacceptable size {width}x{height}: expected {MIN_SIZE} to {MAX_SIZE} each way")
        network = network_on(self.settings.network, width, height)
        if self.settings.strict and network not in WITHOUT_NETWORK and max(width, height) > LARGEST_BOARD:
            raise ValueError(f"unacceptable size {width}x{height}: {too_large('the network', LARGEST_BOARD)}")
        self._width, self._height = width, height
        self.clear_board()
        self._use(network)

    def _use(self, network: str) -> None:
        """Has the search thread make this evaluator, unless it is the one that it has."""
        if network == self._network:
            return
        self._network = network
        thinker, parameters = self._thinker, self.parameters

        def get_ready() -> None:
            thinker.change_network(network)
            thinker.warm_up()
            thinker.announce(parameters)
            thinker.check_profile(parameters.profile)

        self.ready = self._thread.submit(get_ready)

    def clear_board(self) -> None:
        """Begins a game with full clocks on the empty board; komi, rules and time settings stay."""
        self._change()
        self._game = None
        self.clock.restart()

    def set_komi(self, komi: float) -> None:
        """Changes the komi, in the middle of a game too."""
        self._change()
        self._sent_komi = komi
        if self._game is not None:
            self._game.set_komi(komi)

    def set_rules(self, rules: Rules) -> None:
        """Changes the rules, in the middle of a game too."""
        self._change()
        self._rules = rules
        if self._game is not None:
            self._game.set_rules(rules)

    def play(self, colour: int, point: int) -> None:
        """As Game.play."""
        self._end_pondering()
        self.game.play(colour, point)

    def undo(self) -> None:
        """As Game.undo."""
        self._change()
        self.game.undo()

    def set_up(self, black: Iterable[int], white: Iterable[int], to_move: int = BLACK) -> None:
        """As Game.set_up."""
        self._change()
        self.game.set_up(black, white, to_move)

    def place_handicap(self, points: Iterable[int]) -> None:
        """As Game.place_handicap."""
        self._change()
        self.game.place_handicap(points)

    def load(self, game: "Game") -> None:
        """Goes on from a copy of `game`, with its size, komi and rules; the clocks are full."""
        self._change()
        self._game = game.copy()
        self._width, self._height = game.width, game.height
        self._rules, self._sent_komi = game.rules, game.komi
        self.clock.restart()
        self._use(network_on(self.settings.network, game.width, game.height))

    def _change(self) -> None:
        """The game is not simply going on: what was counted of it is void."""
        self._end_pondering()
        self._hopeless_moves = {BLACK: 0, WHITE: 0}

    # Parameters.

    @property
    def parameters(self) -> SearchParameters:
        """The search's parameters; `set_parameter` changes them."""
        return self.settings.search_parameters(self._network)

    @staticmethod
    def parameter_names() -> list[str]:
        """What `set_parameter` and `parameter` know: the limits of a move and the search's parameters."""
        return ["visits", "seconds", *parameter_names()]

    def parameter(self, name: str) -> Any:
        """A parameter by its name or KataGo's; ValueError for an unknown one. A limit that is not set is None."""
        _check_parameter(name)
        if name in _LIMIT_NAMES:
            return getattr(self.settings, _LIMIT_NAMES[name])
        return getattr(self.parameters, find_parameter(name))

    def set_parameter(self, name: str, value: str | float | bool) -> None:
        """Changes a parameter from the next search on, by its name or KataGo's; ValueError says what is accepted."""
        _check_parameter(name)
        self._end_pondering()
        if name in _LIMIT_NAMES:
            change: dict[str, Any] = {_LIMIT_NAMES[name]: _limit(name, value)}
        else:
            change = {"parameters": {**self.settings.parameters, find_parameter(name): value}}
        settings = replace(self.settings, **change)
        profile = settings.search_parameters(self._network).profile
        if profile != self.parameters.profile:
            self._thinker.check_profile(profile)
        self.settings = settings

    # Searches.

    def genmove(
        self,
        colour: int,
        *,
        play: bool = True,
        cleanup: bool = False,
        on_report: "Callable[[SearchReport], None] | None" = None,
        interval: float | None = None,
        ownership: bool = False,
        moves_ownership: bool = False,
        root_moves: "RootMoves | None" = None,
        limits: "Limits | None" = None,
    ) -> "Future[Decision]":
        """Decides what `colour` plays in the present position; `commit` plays it.

        play: False decides without randomness and without resigning, and no clock runs.
        cleanup: captures all dead stones before it passes. limits: instead of the settings' and the clock's.
        on_report: called on the search thread with what was found so far, every `interval` seconds.
        """
        started = time.monotonic()
        self._end_pondering()
        game = self._position(colour)
        settings, clock, thinker, stop = self.settings, self.clock, self._thinker, self._thread.stop_event
        network = self._network
        hopeless_before = self._hopeless_moves[colour]
        request = Request(
            game, stop, None, self.parameters, on_report, interval, root_moves, ownership, moves_ownership
        )

        def decide() -> Decision:
            from .search.decision import Manner, choose_move
            from .search.ending import is_hopeless

            waited = time.monotonic() - started
            budget = clock.budget(colour, game.area, len(game.moves), waited) if play and limits is None else None
            limited = replace(request, limits=limits or _move_limits(settings, network, budget))
            point, report = choose_move(thinker, limited, Manner(settings.level, cleanup, calm=not play))
            hopeless = is_hopeless(game, report, settings.resign_threshold)
            resign = play and settings.resign and hopeless and hopeless_before + 1 >= settings.resign_moves
            planned = None if budget is None else waited + budget
            return Decision(colour, PASS if resign else point, resign, report, started, planned, hopeless)

        return self._thread.submit(decide)

    def commit(self, decision: Decision) -> None:
        """Plays a decision of `genmove` on the game and charges its time; nothing is played where it resigns."""
        self._end_pondering()
        self._hopeless_moves[decision.colour] = self._hopeless_moves[decision.colour] + 1 if decision.hopeless else 0
        if decision.resign:
            return
        self.game.play(decision.colour, decision.point)
        self.clock.charge(decision.colour, time.monotonic() - decision.started, decision.budget)

    def analyze(
        self,
        colour: int | None = None,
        *,
        on_report: "Callable[[SearchReport], None] | None" = None,
        interval: float | None = None,
        root_moves: "RootMoves | None" = None,
        ownership: bool = False,
        moves_ownership: bool = False,
        limits: "Limits | None" = None,
    ) -> "Future[SearchReport]":
        """Searches the present position for the player to move, or `colour`, until `stop` or up to `limits`."""
        self._end_pondering()
        game = self._position(self.game.to_move if colour is None else colour)
        stop, thinker = self._thread.stop_event, self._thinker
        request = Request(
            game, stop, limits, self.parameters, on_report, interval, root_moves, ownership, moves_ownership
        )
        return self._thread.submit(lambda: thinker.search(request))

    def raw_evaluations(
        self, colour: int | None = None, *, symmetries: Iterable[int] = (0,), optimism: float | None = None
    ) -> "Future[list[RawEvaluation]]":
        """What the network says of the present position by each of these symmetries, without any search.

        It is for the player to move, or `colour`, for whom a new history begins where it is not the one to move.
        optimism: share of the optimistic policy where the network has one; None for what a search takes at its root.
        ValueError without a network, and for a board too large for it.
        """
        self._end_pondering()
        game, thinker = self._position(self.game.to_move if colour is None else colour), self._thinker
        parameters = self.parameters
        share = parameters.root_policy_optimism if optimism is None else optimism
        return self._thread.submit(lambda: thinker.raw_evaluations(game, symmetries, share, parameters.profile))

    def ownership(self) -> "Future[np.ndarray]":
        """Who will own each point: float32 [height, width] in -1..1, + for black."""
        game, parameters, thinker, stop = self._judged()
        return self._thread.submit(lambda: thinker.ownership(game, parameters, stop))

    def dead_stones(self) -> "Future[set[int]]":
        """The points of the stones that are off the board for the count.

        Two searches, one for each player, say who will own each point; what is pass-alive overrides them. There are no
        dead stones once a game is over under rules that count all of them as they stand (Tromp-Taylor).
        """
        game, parameters, thinker, stop = self._judged()

        def judge() -> set[int]:
            from .search.ending import find_dead

            return find_dead(game, thinker.ownership(game, parameters, stop))

        return self._thread.submit(judge)

    def final_score(self) -> "Future[Score]":
        """The count under the rules, for the board as it stands without the dead stones; nothing is played out.

        An empty region that touches both colours is nobody's, so that a game which is not over is counted roughly.
        """
        dead, game = self.dead_stones(), self.game.copy()

        def count() -> "Score":
            from .game.scoring import Score, final_score

            return Score(final_score(game, dead.result()))

        return self._thread.submit(count)

    def statuses(self) -> "Future[dict[str, list[list[int]]]]":
        """The chains by what becomes of them: "alive", "dead" or "seki"."""
        dead, game = self.dead_stones(), self.game.copy()

        def sort() -> dict[str, list[list[int]]]:
            from .search.ending import chain_statuses

            return chain_statuses(game, dead.result())

        return self._thread.submit(sort)

    def _judged(self) -> "tuple[Game, SearchParameters, Thinker, threading.Event]":
        self._end_pondering()
        return self.game.copy(), self.parameters, self._thinker, self._thread.stop_event

    def ponder(self) -> None:
        """Begins to think in the opponent's time, where the settings say so, until anything else is asked."""
        if self.settings.ponder and not self.game.is_over:
            self._end_pondering()
            thinker, request = (
                self._thinker,
                Request(self.game.copy(), self._thread.pondering_stop, None, self.parameters),
            )
            self._thread.submit(lambda: thinker.search(request))

    def stop(self) -> None:
        """Ends whatever is being searched, which answers with what it has; returns at once."""
        self._thread.stop()

    def _end_pondering(self) -> None:
        self._thread.stop_pondering()

    def clear_cache(self) -> None:
        """Forgets the search tree and kept evaluations."""
        self._end_pondering()
        self._thread.submit(self._thinker.clear)

    def close(self) -> None:
        """Ends the search thread and waits for it; searching afterwards is a ValueError."""
        if not self._thread.is_closed:
            self._thread.submit(self._thinker.close)
        self._thread.close()

    def best_move(self, colour: int | None = None) -> Decision:
        """Decides for the player to move, or `colour`, plays it and returns it."""
        decision = self.genmove(self.game.to_move if colour is None else colour).result()
        self.commit(decision)
        return decision

    def evaluate(self) -> "SearchReport":
        """What a search within the settings' limits finds here, with ownership, for the player to move."""
        return self.analyze(ownership=True, limits=_move_limits(self.settings, self._network, None)).result()

    def _position(self, colour: int) -> "Game":
        """A copy of the game with `colour` to move."""
        game = self.game.copy()
        game.to_move = colour
        return game


def _check_parameter(name: str) -> None:
    """ValueError, with the nearest names or else all, where a name is neither a limit's nor a search parameter's."""
    searched = [item for one in fields(SearchParameters) for item in (one.name, one.metadata["katago"]) if item]
    if name not in (*_LIMIT_NAMES, *searched):
        near = get_close_matches(name, [*_LIMIT_NAMES, *searched], 3, 0.5)
        raise ValueError(f"unknown parameter {name!r}: expected {', '.join(near or Engine.parameter_names())}")


def _limit(name: str, value: str | float | bool) -> int | float | None:
    """A limit of a move from a client's text: a positive number, whole for visits; "none" or "" takes it away."""
    if str(value).strip().lower() in ("", "none"):
        return None
    whole = _LIMIT_NAMES[name] == "visits"
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0 and (number.is_integer() or not whole)):
        raise ValueError(f"invalid {name} {value!r}: expected a {'whole ' if whole else ''}number above 0")
    return int(number) if whole else number


def _move_limits(settings: EngineSettings, network: str, budget: float | None) -> "Limits":
    """The limits of one move: the settings', within the clock's budget of seconds; network: what plays."""
    from .search.search import Limits

    if budget == 0.0:
        return Limits(visits=1, seconds=0.0)
    of_level = visits_at(settings.level, with_network=network not in WITHOUT_NETWORK)
    visits = [limit for limit in (settings.visits, of_level) if limit is not None]
    seconds = [limit for limit in (settings.seconds, budget) if limit is not None]
    if not seconds and settings.visits is None:
        seconds = [DEFAULT_SECONDS]
    return Limits(min(visits, default=None), min(seconds, default=None))
