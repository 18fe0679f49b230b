"""What a player asks about a move: why it is a mistake, and what another one in its place would have brought.

The engine that plays answers, on its search thread, where its network is loaded. What a move costs is what a review
says: the position after it is compared with that before it (`MoveReview.cost`), after searches as long as a second
look, or on a slow machine less, if a move is only tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..base.languages.texts import Phrase, Value
from ..engine.worker import SearchWorker
from ..go.coords import PASS, colour_name, opponent
from ..go.game import Game, Move
from ..search.report import SearchReport
from ..search.request import Limits, SearchRequest
from .game_review import Reason
from .known_reports import KnownReports
from .move_review import CLASSES, LONGEST_VARIATION, MoveReview, whole, worth
from .reasons.explain import explain
from .reasons.variation import LEAST_VISITS, searched_line
from .searches import SECOND_LOOK_FACTOR, Searches

# Visits of a first look. A second one then has 128, as long as the judgement of a move during a game takes.
_VISITS = 16
# Of the search of a move that is only tried: the answer is to be on the page within two seconds.
_SECONDS = 1.5
_SEED = 1  # that of `gtp_engine review`
# Points: a game is even below the first, and a move is a mistake from the second on; two moves are alike below that.
_LEAST_LEAD, LEAST_LOSS, *_ = CLASSES


@dataclass(frozen=True)
class Explanation:
    """A move, and why it is a mistake.

    Attributes:
        move: The move, with what was found before and after it.
        reasons: Why it is a mistake, as far as that is known.
    """

    move: MoveReview
    reasons: Sequence[Reason] = ()

    @property
    def refutation(self) -> tuple[int, ...]:
        """The points of the line that begins with the move: that of the reason, or else the main line of the search."""
        played = self.move.move.point
        told = (reason.line for reason in self.reasons[:1] if reason.line[:1] == (played,))
        return next(told, (played, *searched_line(self.move.after)))[:LONGEST_VARIATION]

    @property
    def sentence(self) -> Phrase:
        """The first reason; without one, what the opponent gains, or that a longer look has found no mistake."""
        if self.reasons:
            return self.reasons[0].sentence
        values, points = _names(self.move), self.move.cost.lead
        if points < LEAST_LOSS:
            return Phrase("asked.equal" if points >= _LEAST_LEAD else "asked.noMistake", values)
        values["count"] = whole(points)
        return Phrase("asked.noReason" if _answer(self.move) != PASS else "asked.worthMore", values)


def explanation(searches: Searches, game: Game, move: Move, number: int) -> Explanation | None:
    """Returns why a move is a mistake; None if the searches were stopped before they found anything.

    Args:
        searches: How to search: `searches_of`.
        game: The position before the move.
        move: The move, which has to be legal.
        number: Its number in the game.
    """
    judged = judge(searches, game, move, number)
    return None if judged is None else Explanation(judged, explain(searches, game, judged, others=False))


def judge(
    searches: Searches, game: Game, move: Move, number: int, before: SearchReport | None = None
) -> MoveReview | None:
    """Returns what a move costs, whether it was played or not; None if the searches were stopped.

    Args:
        searches: How to search: `searches_of`.
        game: The position before the move.
        move: The move, which has to be legal.
        number: Its number in the game.
        before: What is known about that position, for an answer in `_SECONDS`; None to search it too, without haste.
    """
    searches = searches.times(SECOND_LOOK_FACTOR)
    if before is not None:
        searches = replace(searches, limits=replace(searches.limits, seconds=_SECONDS))
    after = game.after(*move)
    asked = [after] if before else [game.copy(), after]
    reports = [*searches.reports(asked, ownership=True, moves_ownership=True)]
    if len(reports) < len(asked):
        return None
    return MoveReview(number, move, before or reports[0], reports[-1], is_checked=True)


def searches_of(worker: SearchWorker, request: SearchRequest, known: KnownReports) -> Searches:
    """Returns how the worker of an engine searches for these answers; stopping the request ends the searches."""
    board = request.game.width, request.game.height
    return Searches(
        worker.evaluator_on(*board),
        worker.parameters_on(*board, request.parameters),
        Limits(_VISITS),
        _SEED,
        lambda: request.is_stopped,
        known=known,
    )


def told(tried: MoveReview) -> tuple[Phrase, ...]:
    """Returns what another move would have brought: who leads after it, the best answer, and the better move.

    An answer that has hardly been searched is not told.
    """
    lead, values = worth(tried.after).lead, _names(tried)
    if abs(lead) < _LEAST_LEAD:
        found = [Phrase("asked.even", values)]
    else:
        values |= {"leader": Phrase("black" if lead > 0 else "white"), "points": f"{abs(lead):.1f}"}
        found = [Phrase("asked.leads", values)]
    if _answer(tried) != PASS and tried.after.moves[0].visits >= LEAST_VISITS:
        found.append(Phrase("asked.answer", values))
    if tried.move.point == tried.best:
        return (*found, Phrase("asked.best", values))
    cost = tried.cost.lead
    if cost < LEAST_LOSS:
        return (*found, Phrase("asked.equal", values))
    return (*found, Phrase("lost", {"move": values["played"], "count": whole(cost), "best": values["better"]}))


def _names(move: MoveReview) -> dict[str, Value]:
    """Returns the moves and the players that sentences name."""

    def name(point: int) -> Value:
        return Phrase("reason.pass") if point == PASS else move.vertex(point)

    return {
        "played": name(move.move.point),
        "better": name(move.best),
        "answer": name(_answer(move)),
        "player": Phrase(colour_name(move.move.colour)),
        "opponent": Phrase(colour_name(opponent(move.move.colour))),
    }


def _answer(move: MoveReview) -> int:
    """Returns the opponent's best answer; a pass if nothing was searched."""
    return move.after.moves[0].point if move.after.moves else PASS
