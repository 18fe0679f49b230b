"""One game being played: position, clock, search and the decision what to play.

The position belongs to the calling thread. Searches run on a thread of the engine, on a copy of the game, and return
futures. That thread also imports and compiles the core and loads the evaluator, so an engine is made at once, and size,
komi and rules can be set while the thread is busy.
"""

import copy
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from ..base.errors import UserError
from ..base.fields import Range, check_keywords, invalid
from ..base.languages.texts import Phrase
from ..base.messages import plural
from ..base.threads import Closing, NotCopied
from ..go.coords import BLACK, PASS, WHITE, check_board_size, colour_letter, colour_name
from ..go.rules import Rules, as_rules, check_komi, default_komi, terms_text
from ..nets.library import RANK_PLAY, network_name
from ..search.evaluate.choices import names_file
from ..search.evaluate.human_profile import check_profile
from ..search.parameters import SearchParameters
from ..search.request import Limits, RequestOptions, SearchRequest
from ..solver import USUAL_SECONDS
from .clock import Clock
from .handicap_play import Doublings, white_doublings
from .ranks import WEAKEST, Rank, Strength, as_rank, next_rank
from .search_thread import SearchThread
from .settings import EngineSettings, as_settings

if TYPE_CHECKING:
    import numpy as np

    from ..go.game import Game
    from ..go.scoring import Score
    from ..search.evaluate.batch import Evaluation
    from ..search.evaluate.evaluator import Evaluator
    from ..search.report import SearchReport
    from ..solver.solution import Solution
    from .captures import Capture
    from .decision import Turn
    from .worker import SearchWorker

logger = logging.getLogger(__name__)
T = TypeVar("T")

# Seconds that the end of the program waits for the batch in flight of an engine that was not closed, and `close` for an
# engine that is still getting ready.
_LAST_WAIT = 0.5


@dataclass(frozen=True)
class Decision:
    """A move that the engine has decided on.

    Attributes:
        colour: The player.
        point: The point to play, or `PASS`; PASS as well if it resigns.
        resign: Whether to resign.
        report: The search behind the decision.
        started: The time of the request, by `time.monotonic()`.
        budget: The seconds that the move was meant to take; None without a clock.
        hopeless: Whether the position counts as one to resign.
        white_doublings: The playout doubling advantage of White that was searched with (`handicap_play`).
    """

    colour: int
    point: int
    resign: bool = False
    report: "SearchReport | None" = None
    started: float = 0.0
    budget: float | None = None
    hopeless: bool = False
    white_doublings: float = 0.0

    @property
    def vertex(self) -> str:
        """The name of the move, "pass" for a pass, "resign" if it resigns."""
        if self.resign:
            return "resign"
        return self.report.vertex(self.point) if self.report is not None else f"point {self.point}"

    def __repr__(self) -> str:
        searched = "" if self.report is None else f"; {self.report}"
        return f"<Decision: {colour_name(self.colour)} {self.vertex}{searched}>"


class Engine(NotCopied, Closing):
    """One game against or by the engine.

    Methods that change the state take effect at once and end pondering; `genmove`, `analyze` and the other searches
    return futures. Points may be given as vertices ("D4"), and colours as "black" or "white".

    An engine belongs to the thread that made it: other threads may only call `stop` and `close`, and get a UserError
    otherwise; use one engine for each thread. `close`, or the end of a `with` block, ends the search thread.

    Attributes:
        settings: How it searches and behaves.
        clock: The clocks of both players.
        games_begun: The number of times that a game was begun or its starting position changed. A search belongs to
            the game being played if this number is still the same.
        board_ready: Done when the rules are compiled, or when `ready` is, so that the board can be shown and moves can
            be played at once.
        ready: Done when the core is compiled and the board's evaluator is loaded; has the error if that failed.
    """

    def __init__(
        self,
        settings: EngineSettings | None = None,
        *,
        width: int = 19,
        height: int | None = None,
        rules: Rules | str = "chinese",
        komi: float | None = None,
    ) -> None:
        """Makes an engine with a new game, and starts its search thread.

        Args:
            settings: How it searches and behaves; None for the defaults.
            width: The board's columns.
            height: The board's rows; None for a square board.
            rules: The rules, or their name.
            komi: White's komi; None for the usual one of the board's size.

        Raises:
            UserError: An argument is of the wrong type or out of range.
        """
        self.settings = as_settings(settings)
        if komi is not None:
            check_komi(komi)
        self._owner = threading.get_ident()
        self.clock = Clock()
        self._rules = as_rules(rules)
        self._sent_komi = komi
        self._game: Game | None = None
        self._hopeless_turns: tuple[Turn, ...] = ()
        self._doublings: Doublings | None = None  # as of the last move
        self.games_begun = 0
        self._notes: set[str] = set()  # that were logged
        self._thread = SearchThread(self.settings.new_worker)
        weakref.finalize(self, self._thread.close, _LAST_WAIT)
        self._network = ""
        self.set_board_size(width, height)

    def __repr__(self) -> str:
        name = network_name(Path(self._network))
        moves, turn = (0, BLACK) if self._game is None else (len(self._game.moves), self._game.to_move)
        position = f"{self._width}x{self._height}, {plural(moves, 'move')}, {colour_letter(turn)} to move"
        closed = ", closed" if self._thread.is_closed else ""
        return f"<Engine {name}: {position}, {terms_text(self._rules, self.komi)}{closed}>"

    def _repr_svg_(self) -> str:
        return self.game.to_svg()

    @property
    def name(self) -> str:
        """The name for game records: the program with its network and its rank."""
        words = "gtp_engine", self.network, self.settings.rank
        return " ".join(str(word) for word in words if word is not None)

    @property
    def network(self) -> str | None:
        """The name of the network that plays on this board; None if there is none."""
        return network_name(Path(self._player)) if names_file(self._player) else None

    @property
    def _player(self) -> str:
        """The evaluator that plays at the rank of the settings."""
        return self._player_at(self.settings)

    def _player_at(self, settings: EngineSettings) -> str:
        """Returns the evaluator that plays: at a rank it may be another one than judges, `_network`."""
        return self._network if settings.rank is None else settings.player_on(self._width, self._height)

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
        """White's komi: the one that was set, or the usual one for the board's size."""
        return self.komi_on(self._width, self._height)

    def komi_on(self, width: int, height: int) -> float:
        """Returns White's komi on a board of this size: the one that was set, or the usual one."""
        return default_komi(width, height) if self._sent_komi is None else self._sent_komi

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._rules

    @property
    def game(self) -> "Game":
        """The game so far. The first access imports the compiled board.

        Only the engine's methods may change it, from the engine's thread; nothing checks that. Use `game.copy()` to try
        moves.
        """
        if self._game is None:
            try:
                from ..go.game import Game
            except (ImportError, OSError):
                if (why := self.ready.exception()) is None:
                    raise
                # Why the search thread, which imports the same, could not; the context is that of the first access.
                raise why from why.__cause__ or why.__context__
            self._game = Game(self._width, self._height, rules=self._rules, komi=self.komi)
        return self._game

    def set_board_size(self, width: int, height: int | None = None) -> None:
        """Begins a game on an empty board of this size. A komi that was set stays.

        Raises:
            UserError: The size is out of range, or as `EngineSettings.check_board`.
        """
        self._check_thread()
        height = width if height is None else height
        check_board_size(width, height)
        self.settings.check_board(width, height)
        self._width, self._height = width, height
        self.clear_board()
        self._use(self.settings.network_on(width, height))

    def _use(self, network: str) -> None:
        """Loads this evaluator on the search thread, unless it is in use already, and prepares it for the board."""
        if network != self._network:
            self._load(network)
        player, width, height = self._player, self._width, self._height
        thread, ready = self._thread, self.ready  # not the engine, which the thread must not keep

        def prepare(worker: "SearchWorker") -> None:
            if not (thread.is_closed or ready.exception()):
                worker.player(player).prepare(width, height)

        thread.submit(prepare)

    def _load(self, network: str) -> None:
        """Loads this evaluator on the search thread."""
        self._network = network
        # Not the engine, which the thread must not keep.
        parameters, thread, player = self.parameters, self._thread, self._player
        self.board_ready = board_ready = Future[None]()

        def show_board(_: object = None) -> None:
            if not board_ready.done():
                board_ready.set_result(None)

        def load(worker: "SearchWorker") -> tuple[str, bool]:
            worker.change_network(network)
            used = worker.player(player)  # the other one is loaded after the first move, or when it is needed
            used.warm_up(show_board, lambda: thread.is_closed)
            used.announce(parameters)
            evaluator = used.evaluator()
            return evaluator.name, evaluator.takes_profile

        self._evaluator = loaded = self._thread.submit(load)  # its name, and whether it imitates humans
        self.ready = self._thread.submit(lambda _: check_profile(*loaded.result(), parameters.profile))
        Future.add_done_callback(self.ready, show_board)  # not a wait, which would end searches

    def prepare(self) -> "Future[Evaluator]":
        """Waits for what plays, and loads what judges near the end, if that is another network."""
        self._end_pondering()
        return self._thread.submit(lambda worker: worker.evaluator())

    def clear_board(self) -> None:
        """Begins a game with full clocks on the empty board; komi, rules and time settings stay."""
        self._end_pondering()
        self.games_begun += 1
        self._game = None
        self.clock.restart()

    def set_komi(self, komi: float) -> None:
        """Changes the komi; a game in progress continues."""
        check_komi(komi)
        self._end_pondering()
        self._sent_komi = komi
        if self._game is not None:
            self._game.set_komi(komi)

    def set_rules(self, rules: Rules | str) -> None:
        """Changes the rules; a game in progress continues."""
        rules = as_rules(rules)
        self._end_pondering()
        self._rules = rules
        if self._game is not None:
            self._game.set_rules(rules)

    def play(self, colour: int | str, point: int | str) -> None:
        """Plays a move in the game, as `Game.play` does."""
        self._end_pondering()
        self.game.play(colour, point)

    def undo(self) -> None:
        """Takes back the last move, as `Game.undo` does."""
        self._end_pondering()
        self._hopeless_turns = ()  # so that a player who takes back a move can play on
        self.game.undo()

    def set_up(self, black: Iterable[int | str], white: Iterable[int | str], to_move: int | str = BLACK) -> None:
        """Sets up a position, as `Game.set_up` does."""
        self._end_pondering()
        self.game.set_up(black, white, to_move)
        self.games_begun += 1

    def set_to_move(self, colour: int | str) -> None:
        """Makes it this player's turn, without a move of the other."""
        self._end_pondering()
        self.game.to_move = colour
        self.games_begun += 1

    def place_handicap(self, points: Iterable[int | str]) -> None:
        """Places handicap stones, as `Game.place_handicap` does."""
        self._end_pondering()
        self.game.place_handicap(points)
        self.games_begun += 1

    def load(self, game: "Game") -> None:
        """Continues from a copy of `game`, with its size, komi and rules; the clocks are full.

        Its komi counts as one that was set, unless none was set before and it is the usual one of the board's size.

        Raises:
            UserError: As `EngineSettings.check_board`.
        """
        from ..go.game import as_game

        game = as_game(game)
        self.settings.check_board(game.width, game.height)
        self._end_pondering()
        self._hopeless_turns = ()
        self.games_begun += 1
        self._game = game.copy()
        self._width, self._height = game.width, game.height
        self._rules = game.rules
        if self._sent_komi is not None or game.komi != default_komi(game.width, game.height):
            self._sent_komi = game.komi
        self.clock.restart()
        self._use(self.settings.network_on(game.width, game.height))

    # Parameters.

    @property
    def parameters(self) -> SearchParameters:
        """The search's parameters; `set_parameter` changes them."""
        return self.settings.search_parameters(self._network)

    @staticmethod
    def parameter_names() -> list[str]:
        """Returns the names that `set_parameter` and `parameter` accept: limits of a move and search parameters."""
        return EngineSettings.parameter_names()

    def parameter(self, name: str) -> Any:
        """Returns a parameter by its name or KataGo's; None for a limit that is not set.

        Raises:
            UserError: The name is unknown.
        """
        return self.settings.parameter(name, self._network)

    def set_parameter(self, name: str, value: str | float | bool) -> None:
        """Changes a parameter from the next search on, by its name or KataGo's.

        Raises:
            UserError: The name is unknown or the value invalid.
        """
        settings = self.settings.with_parameter(name, value)
        self._end_pondering()
        profile = settings.search_parameters(self._network).profile
        is_loaded = self._evaluator.done() and self._evaluator.exception() is None
        if is_loaded and profile != self.parameters.profile:
            check_profile(*self._evaluator.result(), profile)
        self.settings = settings

    def change_rank(self, step: int) -> None:
        """Changes the rank by one step, among those that the network reaches on the board.

        Args:
            step: 1 for the next higher rank, -1 for the next lower one; full strength comes after the highest.
        """
        self._end_pondering()
        network = self.settings.network_on(self._width, self._height, RANK_PLAY)
        rank = next_rank(as_rank(self.settings.rank), step, network, self._width, self._height)
        self.settings = replace(self.settings, rank=rank)

    # Searches.

    def request(self, colour: int | str | None = None, **options: Unpack[RequestOptions]) -> SearchRequest:
        """Returns a request to search the present position, for `analyze` or `genmove`; `stop` ends it.

        Args:
            colour: The player to search for; None for the player to move.
            **options: Other fields of the request (`SearchRequest`): `limits`, `root_moves`, `parameters`, `ownership`,
                `moves_ownership`, `on_report`, `interval`, `first_report`, `stop` and `early_stop`.

        Raises:
            UserError: A value is invalid.
        """
        self._check_thread()
        check_keywords("request", options, RequestOptions.__annotations__)
        game = self.game.copy()
        game.to_move = game.to_move if colour is None else colour
        options.setdefault("parameters", self.parameters)
        options.setdefault("stop", self._thread.new_stop())
        return SearchRequest(game, **options)

    def genmove(
        self,
        request: SearchRequest | None = None,
        *,
        play: bool = True,
        cleanup: bool = False,
        rank: Rank | str | None = None,
    ) -> "Future[Decision]":
        """Decides what to play; `commit` plays it.

        Args:
            request: What to search, from `Engine.request`; None for the present position. A request without limits is
                searched within those of the settings and of the clock.
            play: Whether the move is to be played; otherwise the decision is without randomness, resignation and clock.
            cleanup: Whether to capture all dead stones before a pass.
            rank: The rank of this move, such as "12k"; None for that of the settings.
        """
        started = time.monotonic()
        self._end_pondering()
        request = self._checked(request or self.request())
        game, colour = request.game, request.game.to_move
        parameters, doublings = self._with_doublings(request.parameters or self.parameters, game)
        request = replace(request, parameters=parameters)
        settings = self.settings if rank is None else replace(self.settings, rank=rank)
        # A copy, since the clock belongs to this thread: what becomes of it later is not for this move.
        clock, strength = copy.deepcopy(self.clock), self._strength(settings)
        hopeless_turns, player = self._hopeless_turns, self._player_at(settings)

        def decide(judge: "SearchWorker") -> Decision:
            from .decision import PlayStyle, choose_move, hopeless_row, is_hopeless  # import numba

            worker = judge.player(player)
            limits, budget, waited = request.limits, None, time.monotonic() - started
            if limits.is_endless:
                if play:
                    budget = clock.budget(colour, game.area, len(game.moves), waited)
                limits = settings.move_limits(budget)
            style = PlayStyle(strength, cleanup, deterministic=not play)
            point, report = choose_move(worker, replace(request, limits=limits), style, judge)
            hopeless = is_hopeless(game, report, settings.resign_threshold, strength)
            row = hopeless_row(hopeless_turns, game, colour) + 1 if hopeless else 0
            # Beginners, whom the weakest rank plays, are to see how a game is counted.
            may_resign = play and settings.resign and settings.rank != WEAKEST
            resign = may_resign and row >= settings.resign_moves
            planned = None if budget is None else waited + budget
            if play and request.stop is not None:
                soonest = settings.delay if planned is None else min(settings.delay, planned / 2)
                request.stop.wait(max(0.0, started + soonest - time.monotonic()))
            chosen = PASS if resign else point
            return Decision(colour, chosen, resign, report, started, planned, hopeless, doublings)

        return self._thread.submit(decide, request.stop)

    def _with_doublings(self, parameters: SearchParameters, game: "Game") -> tuple[SearchParameters, float]:
        """Returns the parameters for a move in a game with a handicap, and the playout doubling advantage of White."""
        sign, fixed = 1 if game.to_move == WHITE else -1, parameters.playout_doubling_advantage
        if fixed or not self.settings.handicap_doubling:
            return parameters, sign * fixed
        last = self._doublings if self._doublings and self._doublings.game == self.games_begun else None
        white = white_doublings(game, self.settings.handicap_doubling, last)
        return replace(parameters, playout_doubling_advantage=sign * white), white

    @property
    def rank_notes(self) -> tuple[Phrase, ...]:
        """What a user should know about how the rank of the settings is played on the board; empty if nothing."""
        play = self.settings.at_rank(self._width, self._height)
        return () if play is None else play.notes

    def _strength(self, settings: EngineSettings) -> Strength | None:
        """Returns the strength of the settings' rank; logs once what a user should know about it."""
        play = settings.at_rank(self._width, self._height)
        if play is None:
            return None
        if play.note and play.note not in self._notes:
            self._notes.add(play.note)
            logger.warning(play.note)
        return play.strength

    def commit(self, decision: Decision) -> None:
        """Plays a decision of `genmove` and charges its time to the clock; does nothing if it resigns."""
        from .decision import turn_of, with_turn

        self._end_pondering()
        turn = turn_of(self.game, decision.colour)
        self._hopeless_turns = with_turn(self._hopeless_turns, turn, hopeless=decision.hopeless)
        if decision.report is not None:
            winrate = decision.report.winrate if decision.colour == WHITE else 1 - decision.report.winrate
            self._doublings = Doublings(self.games_begun, decision.white_doublings, winrate)
        if decision.resign:
            return
        self.game.play(decision.colour, decision.point)
        self.clock.charge(decision.colour, time.monotonic() - decision.started, decision.budget)
        if self._player != self._network:  # what judges near the end is loaded while the opponent thinks
            self.prepare()

    def analyze(self, request: SearchRequest | None = None, *, endless: bool = False) -> "Future[SearchReport]":
        """Searches up to the request's limits, with the settings' `analysis_wide_root_noise`.

        With a network, under area rules and once a pass is likely, games that end in the search are counted without the
        stones that are dead now.

        Args:
            request: What to search, from `Engine.request`; None for the present position. A request without limits is
                searched within those of the settings.
            endless: Whether a search without limits runs until `stop` is called, the future is cancelled, or the result
                of a later call is waited for without a timeout.
        """
        self._end_pondering()
        search_request = self._checked(request or self.request())
        if search_request.limits.is_endless and not endless:
            search_request = replace(search_request, limits=self.settings.limits())
        if noise := self.settings.analysis_wide_root_noise:
            parameters = search_request.parameters or self.parameters
            search_request = replace(search_request, parameters=replace(parameters, wide_root_noise=noise))
        stop, is_endless = search_request.stop, search_request.limits.is_endless
        return self._thread.submit(lambda worker: worker.analyze(search_request), stop, is_endless=is_endless)

    def raw_evaluations(
        self, colour: int | str | None = None, *, symmetries: Iterable[int] = (0,), optimism: float | None = None
    ) -> "Future[list[Evaluation]]":
        """Returns the network's evaluations of the present position under these symmetries, without a search.

        Args:
            colour: The player to evaluate for; None for the player to move. The other player has no history of moves.
            symmetries: Numbers of symmetries, 0 to 7.
            optimism: Share of the optimistic policy, if the network has one; None for that of a search's root.

        Raises:
            UserError: A number is out of range. Other errors, such as a missing network or a board that is too large
                for it, are raised by the future.
        """
        self._end_pondering()
        chosen = [int(Range(0, 7, whole=True).parse("symmetry", number)) for number in symmetries]
        if optimism is not None:
            optimism = Range(0, 1).parse("optimism", optimism)
        game, parameters = self.request(colour).game, self.parameters
        share = parameters.root_policy_optimism if optimism is None else optimism
        return self._thread.submit(lambda worker: worker.raw_evaluations(game, chosen, share, parameters.profile))

    def ownership(self) -> "Future[np.ndarray]":
        """Returns the ownership of each point, float32 [height, width] in -1..1, + for Black."""
        return self.ask(lambda worker, request: worker.ownership(request))

    def dead_stones(self) -> "Future[set[int]]":
        """Returns the points of the stones that are removed for the count.

        The ownership of each point, found with each player moving first, decides where pass-alive groups do not. Once a
        game is over, the stones are judged together (`engine.status`); under rules that count stones as they stand
        (Tromp-Taylor) none are dead then.
        """
        return self.ask(lambda worker, request: worker.dead_stones(request))

    def capture_lines(self, dead: "Iterable[int]") -> "Future[list[Capture]]":
        """Returns how each dead chain of a finished game would be captured."""

        def find(worker: "SearchWorker", request: SearchRequest) -> "list[Capture]":
            from .captures import find_captures

            return find_captures(worker, request, dead)

        return self.ask(find)

    def final_score(self) -> "Future[Score]":
        """Returns the score under the rules of the present board without the dead stones.

        The game is not played to its end: an empty region next to both colours counts for neither, so the score of an
        unfinished game is only rough. Under territory rules points that have to be filled once the neutral points are,
        and territory in seki, count for nobody.
        """
        return self.ask(lambda worker, request: request.game.score(worker.dead_stones(request)))

    def statuses(self) -> "Future[dict[str, list[list[int]]]]":
        """Returns the chains by their status: "alive", "dead" or "seki"."""
        return self.ask(lambda worker, request: worker.statuses(request))

    def solve(self, points: "Iterable[int | str]", *, seconds: float = USUAL_SECONDS) -> "Future[Solution]":
        """Finds out whether stones can be captured, whoever moves first, by exact reading; `stop` ends it.

        Arguments, result and errors are those of the function `solve`, for the present position.
        """
        self._end_pondering()
        game, stop = self.game.copy(), self._thread.new_stop()
        wanted = game.points(points)

        def run(_: "SearchWorker") -> "Solution":
            from ..solver.solution import solve

            return solve(game, wanted, seconds=seconds, stop=stop)

        return self._thread.submit(run, stop)

    def ask(self, question: "Callable[[SearchWorker, SearchRequest], T]") -> "Future[T]":
        """Has the worker answer a question on the search thread; the request is for the present position."""
        self._end_pondering()
        request = self.request()
        return self._thread.submit(lambda worker: question(worker, request))

    def ponder(self) -> None:
        """Searches in the opponent's time, if the settings ask for it, until any other method is called.

        At a rank it does not, because moves are then found without the tree.
        """
        if self.settings.ponder and self.settings.rank is None and not self.game.is_over:
            self._end_pondering()
            parameters, _ = self._with_doublings(self.parameters, self.game)
            if self.parameters.playout_doubling_advantage:  # which is the engine's own, not the opponent's
                parameters = replace(parameters, playout_doubling_advantage=-parameters.playout_doubling_advantage)
            request = self.request(stop=self._thread.pondering_stop, parameters=parameters)
            self._thread.submit(lambda worker: worker.analyze(request))

    def stop(self) -> None:
        """Ends all searches requested so far and returns at once; their futures get what has been found until then.

        It sets the `SearchRequest.stop` events of these searches, including those that the caller made. Any thread may
        call it.
        """
        self._thread.stop()

    def _end_pondering(self) -> None:
        """Begins every call that changes or searches something."""
        self._check_thread()
        self._thread.stop_pondering()

    def _check_thread(self) -> None:
        """Raises UserError if the engine is closed, or in another thread or process than its own."""
        self._check_process()
        if self._thread.is_closed:
            raise UserError("the engine is closed")
        if threading.get_ident() != self._owner:
            raise UserError("this engine belongs to the thread that made it: make one engine for each thread")

    def clear_cache(self) -> None:
        """Clears the search tree and the cache of evaluations."""
        self._end_pondering()
        self._thread.submit(lambda worker: worker.clear())

    def close(self, timeout: float | None = None) -> bool:
        """Ends the search thread and waits for it; any thread may call it. Later calls raise UserError.

        The settings and the position (`game`) can still be read.

        What the thread is compiling or loading cannot be interrupted; it ends by itself afterwards. A function that the
        thread itself calls, such as `SearchRequest.on_report`, does not wait for it.

        Args:
            timeout: The longest wait in seconds; None for no limit, but for half a second if the engine is not `ready`.

        Returns:
            Whether the thread has ended.
        """
        self._check_process()
        return self._thread.close(_LAST_WAIT if timeout is None and not self.ready.done() else timeout)

    def best_move(
        self, colour: int | str | None = None, *, rank: Rank | str | None = None, **options: Unpack[RequestOptions]
    ) -> Decision:
        """Decides on a move, plays it and returns the decision.

        Args:
            colour: The player; None for the player to move.
            rank: The rank of this move, such as "12k"; None for that of the settings.
            **options: As for `evaluate`. At a rank only limits smaller than its own count.

        Raises:
            UserError: A value is invalid.
        """
        check_keywords("best_move", options, {"rank", *RequestOptions.__annotations__})
        decision = self.genmove(self.request(colour, **options), rank=rank).result()
        self.commit(decision)
        return decision

    def evaluate(
        self,
        to_move: int | str | None = None,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        **options: Unpack[RequestOptions],
    ) -> "SearchReport":
        """Searches the present position and returns the report, with ownership.

        Args:
            to_move: The player to search for; None for the player to move.
            visits: The most visits; without visits, seconds and `limits` those of the settings.
            seconds: The longest time.
            **options: As for `request`: `limits` instead of visits and seconds, `root_moves` and so on.

        Raises:
            UserError: A value is invalid, or there are limits in both forms.
        """
        check_keywords("evaluate", options, ("visits", "seconds", *RequestOptions.__annotations__))
        if visits is not None or seconds is not None:
            if "limits" in options:
                raise UserError("give visits and seconds, or limits, not both")
            options["limits"] = Limits(visits, seconds)
        options.setdefault("ownership", True)
        return self.analyze(self.request(to_move, **options)).result()

    def _checked(self, request: SearchRequest) -> SearchRequest:
        """Returns the request with the engine's event if it has none: `stop` and `close` must be able to end it."""
        if not isinstance(request, SearchRequest):
            raise invalid("request", request, "a SearchRequest, such as engine.request(limits=Limits(visits=100))")
        return request if request.stop is not None else replace(request, stop=self._thread.new_stop())
