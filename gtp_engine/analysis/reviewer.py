"""Reviews records with the network for their boards, or with rollouts if a board is too large for the network."""

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from ..base.fields import invalid
from ..evaluate.choices import LARGEST_BOARD, ROLLOUTS, network_on, too_large
from ..evaluate.evaluator import Evaluator
from ..evaluate.factory import make_evaluator
from ..game.game import Game
from ..game.rules import RULESETS, Rules, as_rules, check_komi, rules_name
from ..network.library import default_networks, network_name
from ..play.settings import EngineSettings
from ..play.worker import SearchWorker
from ..search.parameters import SearchParameters, default_parameters
from ..sgf import GameRecord, SgfError, read_sgf
from .game_ranks import estimate_ranks
from .game_review import Conditions, GameReview, Reason
from .mistakes import Unit
from .rank_estimate import RankEstimate
from .reasons.explain import Explainer, worth_explaining
from .record_searches import RecordSearches
from .review import MoveReview, review_moves
from .second_look import look_again

logger = logging.getLogger(__name__)

# Per position: 200 moves in three minutes. The five seconds of a move in play would take a quarter of an hour.
DEFAULT_SECONDS = 1.0
# A network that anybody can download, for games that the bundled ones are too small for.
STRONG_NETWORK = "kata1-b18c384nbt"


def small_networks() -> dict[str, Path]:
    """Returns the files of the bundled networks for full boards, by the names with which they can be chosen."""
    return {str(path): path for path, (_, largest) in default_networks().items() if largest == LARGEST_BOARD}


def network_advice(network: str, width: int, height: int) -> str:
    """Returns a line on how far the bundled network for full boards can be trusted; empty for other networks.

    Args:
        network: The evaluator (`evaluate.factory`).
        width: The number of columns.
        height: The number of rows.
    """
    file = network_on(network, width, height)
    bundled = small_networks()
    if file not in bundled:
        return ""
    return (
        f"{network_name(bundled[file])} is a small network that misses much, above all in fights of large groups. "
        f"For reliable reviews add --network {STRONG_NETWORK}, from https://katagotraining.org/networks/."
    )


class Reviewer:
    """Reviews records by the engine's settings. The network is loaded for the first record that needs it.

    Args:
        settings: Evaluator, limits and search parameters. Without a limit a position is searched for DEFAULT_SECONDS.

    Attributes:
        stopped: Setting it to True, also from a signal handler, ends the review soon.

    Raises:
        UserError: The settings limit searches to one visit, which compares no moves.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.stopped = False
        self._settings = settings
        self._limits = settings.limits(DEFAULT_SECONDS)
        if self._limits.visits == 1:
            expected = "2 or more: the first visit only evaluates the position, and compares no moves"
            raise invalid("number of visits", 1, expected)
        self._network = ""  # of the worker
        self._worker: SearchWorker | None = None
        self._rollouts: Evaluator | None = None  # for boards too large for the network

    def moves(
        self, record: GameRecord, rules: Rules | None = None, komi: float | None = None, numbers: range | None = None
    ) -> Iterator[MoveReview]:
        """Yields the reviews of a record's moves in order.

        Args:
            record: The record.
            rules: Override the record's rules.
            komi: Overrides the record's komi.
            numbers: The numbers of the moves to review; None for all.

        Raises:
            UserError: The profile does not suit the network.
            SgfError: The board is too large for the network and the settings are strict. Or a move cannot be played;
                the moves before it have been yielded.
        """
        searches = self._searches(record, rules, komi)
        searches.evaluator.clear_cache()  # so that a review does not depend on the games reviewed before
        return review_moves(searches, numbers)

    def second_look(
        self,
        record: GameRecord,
        moves: Sequence[MoveReview],
        rules: Rules | None = None,
        komi: float | None = None,
        *,
        by: Unit = "points",
        player: int | None = None,
    ) -> Iterator[tuple[MoveReview, ...]]:
        """Checks the most costly of reviewed moves, see `second_look.look_again`; `rules` and `komi` as in `moves`."""
        return look_again(self._searches(record, rules, komi), moves, by, player)

    def conditions(self, record: GameRecord, rules: Rules | None = None, komi: float | None = None) -> Conditions:
        """Returns how a record is reviewed; the arguments as in `moves`."""
        evaluator, _ = self._evaluator_for(record)
        used = rules or record.game_rules() or RULESETS["chinese"]
        return Conditions(
            network=evaluator.name,
            precision=getattr(evaluator, "precision", ""),
            limits=self._limits,
            seed=self._settings.seed,
            rules=rules_name(used) or used.to_json(),
            komi=(record.komi or 0.0) if komi is None else komi,
        )

    def reasons(
        self, review: GameReview, rules: Rules | None = None, komi: float | None = None
    ) -> Iterator[tuple[int, tuple[Reason, ...]]]:
        """Yields the number of each mistake that is worth explaining, and the reasons: none if nothing is certain.

        Args:
            review: The review of a record that this reviewer has made.
            rules: Override the record's rules, as in `moves`.
            komi: Overrides the record's komi, likewise.
        """
        searches = self._searches(review.record, rules, komi)
        explainer = Explainer(
            searches.evaluator, searches.parameters, searches.limits, searches.seed, searches.is_stopped
        )
        for move in worth_explaining(review.mistakes):
            if self.stopped:
                return
            yield move.number, explainer.reasons(searches.game_at(move.number - 1), move, review.by)

    def ranks(
        self, review: GameReview, rules: Rules | None = None, komi: float | None = None
    ) -> dict[int, RankEstimate]:
        """Estimates the ranks of the judged players from the reviewed moves; the arguments as in `reasons`.

        The network's evaluations of the positions are those of the searches, as far as they are still in the cache.

        Returns:
            The estimates by colour; none if ranks were not measured with the network and the board, if there are too
            few moves, if the players do not alternate, or if the review is stopped.
        """
        return estimate_ranks(review, self._searches(review.record, rules, komi))

    def _searches(self, record: GameRecord, rules: Rules | None, komi: float | None) -> RecordSearches:
        evaluator, parameters = self._evaluator_for(record)
        seed = self._settings.seed
        return RecordSearches(record, evaluator, parameters, self._limits, seed, rules, komi, lambda: self.stopped)

    def _evaluator_for(self, record: GameRecord) -> tuple[Evaluator, SearchParameters]:
        """Returns the evaluator of a record's board with the parameters that suit it."""
        settings = self._settings.on_board(record.width, record.height)
        if self._worker is None or settings.network != self._network:
            self.close()
            self._worker, self._network = self._new_worker(settings), settings.network
        evaluator = self._worker.evaluator()
        if max(record.width, record.height) <= evaluator.largest_board:
            return evaluator, settings.search_parameters(settings.network)
        if self._rollouts is None:
            self._rollouts = self._make_rollouts(record, evaluator)
        return self._rollouts, default_parameters(ROLLOUTS)

    def _new_worker(self, settings: EngineSettings) -> SearchWorker:
        worker = settings.new_worker()
        worker.warm_up()
        parameters = settings.search_parameters(settings.network)
        worker.announce(parameters)
        worker.check_profile(parameters.profile)
        return worker

    def _make_rollouts(self, record: GameRecord, evaluator: Evaluator) -> Evaluator:
        """Returns rollouts instead of an evaluator that is not meant for boards of the record's size."""
        text = too_large(evaluator.name, evaluator.largest_board)
        if self._settings.strict:
            raise SgfError(f"{record.source}: {text}")
        logger.warning(f"{text}: larger ones are reviewed by rollouts")
        return make_evaluator(threads=self._settings.threads, seed=self._settings.seed)

    def close(self) -> None:
        """Closes the network, and the rollouts for boards too large for it."""
        if self._worker is not None:
            self._worker.close()
        if self._rollouts is not None:
            self._rollouts.close()
        self._worker = self._rollouts = None


def review(
    game: GameRecord | Game | str | os.PathLike[str],
    settings: EngineSettings | None = None,
    *,
    rules: Rules | str | None = None,
    komi: float | None = None,
) -> GameReview:
    """Reviews a game: every position of the main line is searched, and those of the most costly moves once more.

    The reasons for the most costly mistakes are found by further searches.

    Args:
        game: A record, a game, or an SGF file.
        settings: How to search; None for the defaults. Without visits and seconds each position is searched for 1 s.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.

    Raises:
        UserError: The network is not found, or an argument is invalid.
        SgfError: The record cannot be read or replayed, or has no moves.
        OSError: The file cannot be read.
    """
    record = _record(game)
    if not isinstance(settings, EngineSettings | None):
        raise invalid("settings", settings, "EngineSettings, such as EngineSettings(visits=100)")
    chosen_rules = None if rules is None else as_rules(rules)
    if komi is not None:
        check_komi(komi)
    if not record.moves:
        raise SgfError(f"{record.source}: there are no moves to review")
    record.to_game(rules=chosen_rules)  # an unplayable record is reported before the engine starts
    reviewer = Reviewer(settings or EngineSettings())

    def run() -> GameReview:
        try:
            moves = tuple(reviewer.moves(record, chosen_rules, komi))
            *_, moves = moves, *reviewer.second_look(record, moves, chosen_rules, komi)
            done = GameReview(record, reviewer.conditions(record, chosen_rules, komi), moves, is_checked=True)
            done = replace(done, ranks=reviewer.ranks(done, chosen_rules, komi))
            return replace(done, reasons=dict(reviewer.reasons(done, chosen_rules, komi)))
        finally:
            reviewer.close()

    # On a thread of its own, so that torch's settings elsewhere stay as they are.
    with ThreadPoolExecutor(1, "review") as thread:
        reviewed = thread.submit(run)
        try:
            return reviewed.result()
        finally:
            reviewer.stopped = True  # Ctrl-C ends the review soon


def _record(game: object) -> GameRecord:
    """Returns the record of what is to be reviewed."""
    if isinstance(game, GameRecord):
        return game
    if isinstance(game, Game):
        return GameRecord.from_game(game)
    if isinstance(game, str | os.PathLike):
        return read_sgf(game)
    raise invalid("game", game, "a GameRecord, a Game, or an SGF file")
