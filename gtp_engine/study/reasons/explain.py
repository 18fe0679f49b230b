"""Explains mistakes: searches what follows the two moves, finds the facts, chooses what to say, and says it.

The sentences are in no language yet: the name of a text and what is filled in, see `languages.texts`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.errors import UserError
from ...base.languages.texts import Phrase, Value
from ...go.coords import PASS, colour_name, opponent, vertex
from ...go.game import Game
from ...search.evaluate.evaluator import Evaluator
from ...search.parameters import SearchParameters
from ...search.report import SearchReport
from ...search.request import Limits, SearchRequest
from ...search.scheduler import run_in_order
from ...search.search import Search
from ..game_review import Reason
from ..mistakes import LISTED, Mistake, Unit, cost, least_cost
from ..record_searches import new_scheduler
from ..review import MoveReview
from .facts import (
    ALIVE,
    DEAD,
    AtariMissed,
    Captured,
    Connected,
    Doubtful,
    Fact,
    Filled,
    GroupChanged,
    Ladder,
    PassedTooEarly,
    RegionChanged,
    Sente,
    find_captures,
    find_connections,
    find_early_pass,
    find_filled,
    find_groups,
    find_missed_atari,
    find_regions_changed,
    find_sente,
)
from .ladders import find_ladder_facts
from .variation import Study, Variation, cell_of, make_variation, searched_line

# The mistakes that are listed are explained, and of the others those that cost more than EXPLAINED_ABOVE points, up to
# MOST_EXPLAINED in all, which bounds the time. One takes sixteen times the visits of a position, so that 15 of them add
# as much as a first look at 250 moves.
EXPLAINED_ABOVE, MOST_EXPLAINED = 5.0, 30
# The two lines are searched so many times as long as the positions of the review in its first look. Of the sentences on
# 31 mistakes of games of 2d to 15k a stronger network refuted 12 % with 3 times, and 5 % with 15 times. The number lies
# between the two for the sake of time; docs/review.md has what a stronger network said with 8 and with 10 times.
LINE_FACTOR = 8
# If this search finds less than this share of the loss, the two disagree, and there is nothing to explain.
LEAST_CONFIRMED_SHARE = 0.5
# Sentences about one mistake.
_MOST_SENTENCES = 3
# Of the smaller fact's points: two facts that share so many are about the same.
_SAME = 0.5

# The nine parts of the board by row and column, as the texts name them.
_SIDES = (
    ("topLeft", "top", "topRight"),
    ("left", "centre", "right"),
    ("bottomLeft", "bottom", "bottomRight"),
)
# The most telling first: what the rules prove, then life and death, then where the points lie.
_FINDERS: tuple[Callable[[Study], Iterable[Fact]], ...] = (
    find_early_pass,
    find_missed_atari,
    find_ladder_facts,
    find_groups,
    find_captures,
    find_connections,
    find_filled,
    find_regions_changed,
)


def worth_explaining(mistakes: Sequence[Mistake]) -> list[MoveReview]:
    """Returns the moves to explain, of mistakes in the order of their cost."""
    worst = [mistake.worst for mistake in mistakes]
    return [*worst[:LISTED], *(move for move in worst[LISTED:MOST_EXPLAINED] if move.points_loss > EXPLAINED_ABOVE)]


class Explainer:
    """Finds why moves are mistakes, by searches with one evaluator.

    Args:
        evaluator: Evaluates the leaves.
        parameters: How to search.
        limits: The limits of each search.
        seed: The seed of the searches.
        is_stopped: Asked between the batches; once it returns True nothing more is explained.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        parameters: SearchParameters,
        limits: Limits,
        seed: int | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._evaluator = evaluator
        self._parameters = parameters
        self._limits = limits
        self._seed = seed
        self._is_stopped = is_stopped

    def reasons(self, game: Game, move: MoveReview, by: Unit = "points") -> tuple[Reason, ...]:
        """Returns why a move is a mistake, the most telling reason first.

        Args:
            game: The position before the move.
            move: The move.
            by: What the cost of a mistake is measured in.
        """
        study = self.study(game, move.move.colour, move.move.point, move.best)
        if study is None:
            return ()
        return tuple(reason_of(study, fact) for fact in self.facts(study, cost(move, by), by))

    def facts(self, study: Study, loss: float, by: Unit = "points") -> list[Fact]:
        """Returns what to say about a mistake, the most telling first.

        Args:
            study: The mistake.
            loss: What the review says it cost, in points or in win rate (0 to 1).
            by: Which of the two.
        """
        lost = cost(study, by)
        if lost < LEAST_CONFIRMED_SHARE * loss:
            return [Doubtful(study.better.line, frozenset(), lost, by)]
        facts = choose(find_facts(study))
        return facts or [*find_sente(self.with_threats(study))]  # which takes two more searches

    def study(self, game: Game, colour: int, played: int, better: int) -> Study | None:
        """Searches the positions after two moves.

        Args:
            game: The position before the moves.
            colour: The player.
            played: The point of the move played.
            better: The point of the better move.

        Returns:
            The study; None if a move is not legal or the search was stopped.
        """
        try:
            games = [_after(game, colour, move) for move in (played, better)]
        except UserError:
            return None
        reports = self._search(games, LINE_FACTOR)
        if reports is None:
            return None
        found = zip((played, better), reports, strict=True)
        return Study(colour, *(make_variation(game, colour, move, report) for move, report in found))

    def with_threats(self, study: Study) -> Study:
        """Returns a study that knows what each move gains if the opponent passes; without that if it was stopped."""
        lines = (study.played, study.better)
        if PASS in (study.move, study.best):
            return study
        reports = self._search([_after(line.games[1], opponent(study.colour), PASS) for line in lines])
        if reports is None:
            return study
        played, better = (_with_threat(line, report) for line, report in zip(lines, reports, strict=True))
        return replace(study, played=played, better=better)

    def _search(self, games: Sequence[Game], factor: int = 1) -> list[SearchReport] | None:
        """Searches positions, side by side if only visits limit the searches; None if it is stopped."""
        limits = self._limits.times(factor)
        requests = [SearchRequest(game, limits, ownership=True, early_stop=False) for game in games]
        searches = ((Search(self._evaluator, self._parameters, self._seed), request) for request in requests)
        reports = list(run_in_order(new_scheduler(self._evaluator, limits), searches, self._is_stopped))
        return reports if len(reports) == len(games) else None


def find_facts(study: Study) -> list[Fact]:
    """Returns all facts that a study shows without further searches, the most telling first."""
    found: list[Fact] = []
    for find in _FINDERS:
        found += sorted(find(study), key=lambda fact: -len(fact.points))
    return found


def choose(facts: Sequence[Fact]) -> list[Fact]:
    """Returns the facts to tell: the first ones, of those about the same stones only one."""
    chosen: list[Fact] = []
    for fact in facts:
        if len(chosen) < _MOST_SENTENCES and not any(_is_same(fact, other) for other in chosen):
            chosen.append(fact)
    return chosen


def _is_same(fact: Fact, other: Fact) -> bool:
    """Whether two facts are about the same stones; where chains meet is told beside what becomes of them."""
    if isinstance(fact, Connected) and not isinstance(other, Connected):
        return False
    shared = len(fact.points & other.points)
    smaller = len(other.points) if isinstance(fact, RegionChanged) else min(len(fact.points), len(other.points))
    return smaller > 0 and shared >= _SAME * smaller


def _after(game: Game, colour: int, move: int) -> Game:
    after = game.copy()
    after.play(colour, move)
    return after


def _with_threat(line: Variation, ignored: SearchReport) -> Variation:
    """Returns a line with what its first move threatens, by the search of the position after a pass as the answer."""
    lead = ignored.moves[0].lead if ignored.moves else ignored.lead
    return replace(line, gain_if_ignored=lead - line.lead, threat=searched_line(ignored))


# The sentences.


@dataclass(frozen=True)
class _Writer:
    """Writes the sentences about one mistake.

    Attributes:
        study: The mistake.
    """

    study: Study

    def write(self, key: str, **values: Value) -> Phrase:
        """Returns a sentence; it knows both moves and both players."""
        study = self.study
        known = {
            "played": self._move(study.move),
            "better": self._move(study.best),
            "player": self.colour(study.colour),
            "opponent": self.colour(opponent(study.colour)),
        }
        return Phrase(f"reason.{key}", {**known, **values})

    def _move(self, point: int) -> Value:
        return Phrase("reason.pass") if point == PASS else self._vertex(point)

    def _vertex(self, point: int) -> str:
        return vertex(point, self.study.game.width, self.study.game.height)

    def colour(self, colour: int) -> Phrase:
        """Returns the name of a colour."""
        return Phrase(colour_name(colour))

    def stones(self, stones: Iterable[int], colour: int | None = None) -> Phrase:
        """Returns stones by their number and the one that is nearest to their middle: "Black's 5 stones at K10".

        Args:
            stones: Their points.
            colour: Whose they are; None if the sentence has said it.
        """
        points = sorted(stones)
        cells = np.array([cell_of(point, self.study.game.width) for point in points])
        nearest = points[int(np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1)))]
        found: dict[str, Value] = {"count": len(points), "place": self._vertex(nearest)}
        if colour is None:
            return Phrase("reason.stones", found)
        return Phrase("reason.stonesOf", {**found, "owner": self.colour(colour)})


def reason_of(study: Study, fact: Fact) -> Reason:
    """Returns a fact about a mistake as a sentence with its line."""
    return Reason(_sentence(_Writer(study), fact), fact.line)


def _sentence(writer: _Writer, fact: Fact) -> Phrase:
    player = writer.study.colour
    match fact:
        case Doubtful():
            if fact.lost < least_cost(fact.by):
                return writer.write("notBetter")
            if fact.by == "winrate":
                return writer.write("doubtfulWinrate", winrate=f"{fact.lost:.1%}")
            return writer.write("doubtful", points=f"{fact.lost:.1f}")
        case PassedTooEarly():
            return writer.write("passed", count=round(fact.lost))
        case AtariMissed():
            return writer.write("atari", stones=writer.stones(fact.points, player))
        case Ladder():
            return writer.write(fact.kind.value, stones=writer.stones(fact.points, fact.colour))
        case Connected():
            first, second = writer.stones(fact.first, fact.colour), writer.stones(fact.second)
            return writer.write("cut" if fact.colour == player else "connected", first=first, second=second)
        case Filled():
            return writer.write(fact.kind.value)
        case Sente():
            return writer.write("sente", count=round(fact.better), less=round(fact.played))
        case GroupChanged():
            return _group(writer, fact)
        case Captured():
            owner = opponent(fact.captor)
            return writer.write("lost" if fact.is_played else "taken", stones=writer.stones(fact.points, owner))
        case RegionChanged():
            side = Phrase(f"reason.{_SIDES[fact.side[0]][fact.side[1]]}")
            return writer.write("elsewhere" if fact.is_elsewhere else "region", side=side, count=round(fact.gain))
    raise TypeError(f"no template for {fact!r}")


def _group(writer: _Writer, fact: GroupChanged) -> Phrase:
    own = fact.colour == writer.study.colour
    if own:
        key = "dies" if fact.better >= ALIVE and fact.played <= DEAD else "weaker"
    else:
        key = "lives" if fact.better <= DEAD and fact.played >= ALIVE else "stronger"
    shares = {"after_better": f"{fact.better:.0%}", "after_played": f"{fact.played:.0%}"}
    stones = writer.stones(fact.points, fact.colour)
    return writer.write(key, owner=writer.colour(fact.colour), stones=stones, **shares)
