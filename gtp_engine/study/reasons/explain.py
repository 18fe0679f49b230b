"""Explains mistakes: searches what follows the two moves, finds the facts, and chooses what to say.

The sentences are in no language yet: the name of a text and what is filled in, see `base.languages.texts`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ...base.errors import UserError
from ...go.coords import PASS, opponent
from ...go.game import Game
from ...search.report import SearchReport
from ..game_review import Reason
from ..move_review import LISTED, Mistake, MoveReview, Unit, least_cost
from ..searches import Searches
from .facts import (
    find_captures,
    find_connections,
    find_early_pass,
    find_filled,
    find_groups,
    find_ladder_facts,
    find_missed_atari,
    find_regions_changed,
    find_sente,
)
from .variation import Fact, Study, Variation, make_variation, searched_line

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
_CONNECTIONS, _REGIONS = ("cut", "connected"), ("region", "elsewhere")  # names of facts

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


def reasons_for(searches: Searches, game: Game, move: MoveReview, by: Unit = "points") -> tuple[Reason, ...]:
    """Returns why a move is a mistake, the most telling reason first; none if the searches are stopped.

    Args:
        searches: How to search.
        game: The position before the move.
        move: The move.
        by: What the cost of a mistake is measured in.
    """
    found = study_of(searches, game, move.move.colour, move.move.point, move.best)
    if found is None:
        return ()
    return tuple(found.reason(fact) for fact in facts_about(searches, found, move.cost(by), by))


def facts_about(searches: Searches, study: Study, loss: float, by: Unit = "points") -> list[Fact]:
    """Returns what to say about a mistake, the most telling first.

    Args:
        searches: How to search.
        study: The mistake.
        loss: What the review says it cost, in points or in win rate (0 to 1).
        by: Which of the two.
    """
    lost = study.points_loss if by == "points" else study.winrate_loss
    if lost < LEAST_CONFIRMED_SHARE * loss:
        return [_doubt(study, lost, by)]
    return choose(find_facts(study)) or [*find_sente(with_threats(searches, study))]  # which takes two more searches


def _doubt(study: Study, lost: float, by: Unit) -> Fact:
    """Returns that a longer search finds a smaller loss, or none; then nothing else is said about the mistake."""
    if lost < least_cost(by):
        return Fact("notBetter", study.better.line)
    if by == "winrate":
        return Fact("doubtfulWinrate", study.better.line, values={"winrate": f"{lost:.1%}"})
    return Fact("doubtful", study.better.line, values={"points": f"{lost:.1f}"})


def study_of(searches: Searches, game: Game, colour: int, played: int, better: int) -> Study | None:
    """Searches the positions after two moves.

    Args:
        searches: How to search.
        game: The position before the moves.
        colour: The player.
        played: The point of the move played.
        better: The point of the better move.

    Returns:
        The study; None if a move is not legal or the searches are stopped.
    """
    try:
        games = [_after(game, colour, move) for move in (played, better)]
    except UserError:
        return None
    reports = _search(searches.times(LINE_FACTOR), games)
    if reports is None:
        return None
    found = zip((played, better), reports, strict=True)
    return Study(colour, *(make_variation(game, colour, move, report) for move, report in found))


def with_threats(searches: Searches, study: Study) -> Study:
    """Returns a study that knows what each move gains if the opponent passes; without that if it was stopped."""
    lines = (study.played, study.better)
    if PASS in (study.move, study.best):
        return study
    reports = _search(searches, [_after(line.games[1], opponent(study.colour), PASS) for line in lines])
    if reports is None:
        return study
    played, better = (_with_threat(line, report) for line, report in zip(lines, reports, strict=True))
    return replace(study, played=played, better=better)


def _search(searches: Searches, games: Sequence[Game]) -> list[SearchReport] | None:
    """Searches positions; None if the searches are stopped."""
    reports = list(searches.reports(games, ownership=True))
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
    if fact.name in _CONNECTIONS and other.name not in _CONNECTIONS:
        return False
    shared = len(fact.points & other.points)
    smaller = len(other.points) if fact.name in _REGIONS else min(len(fact.points), len(other.points))
    return smaller > 0 and shared >= _SAME * smaller


def _after(game: Game, colour: int, move: int) -> Game:
    after = game.copy()
    after.play(colour, move)
    return after


def _with_threat(line: Variation, ignored: SearchReport) -> Variation:
    """Returns a line with what its first move threatens, by the search of the position after a pass as the answer."""
    lead = ignored.moves[0].lead if ignored.moves else ignored.lead
    return replace(line, gain_if_ignored=lead - line.lead, threat=searched_line(ignored))
