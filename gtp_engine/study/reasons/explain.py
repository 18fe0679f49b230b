"""Explains mistakes: searches what follows the two moves, finds the facts, and chooses what to say.

The sentences are in no language yet: the name of a text and what is filled in, see `base.languages.texts`.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from ...base.errors import UserError
from ...go.coords import PASS, opponent
from ...go.game import Game, Move
from ...search.report import SearchReport
from ..game_review import Reason
from ..move_review import LISTED, Mistake, MoveReview
from ..searches import Searches
from .facts import (
    EARLY_PASS,
    REGIONS,
    as_seen_by,
    find_connections,
    find_early_pass,
    find_filled,
    find_missed_atari,
    find_regions_changed,
    find_sente,
    gaining_parts,
)
from .fates import find_fates
from .ko_facts import find_ko
from .ladder_facts import find_ladder_facts
from .tempting import find_tempting
from .variation import LEAST_TOLD, Fact, Study, Variation, best_variation, searched_line, variation_after

# The mistakes that are listed are explained, and of the others those that cost more than EXPLAINED_ABOVE points, up to
# MOST_EXPLAINED in all, which bounds the time.
EXPLAINED_ABOVE, MOST_EXPLAINED = 5.0, 30
# A finding of the second look is stated only if two more searches confirm it: of the positions two moves later, after
# the move played and after the better one. They have this many times the visits of the first look, half of those of the
# second.
LINE_FACTOR = 4
REASON_WORK = 2 * LINE_FACTOR  # in searches of the first look
# The second search has to see this share of what a fact says.
_AGREED = 0.8
# Reasons for one mistake, without what other moves would lose.
_MOST_SENTENCES = 3
_CONNECTIONS = ("cut", "connected")  # names of facts

# If facts gain the same, the first is told: what the rules prove comes before life and death, and a ko before the
# capture of its stones.
_FINDERS: tuple[Callable[[Study], Iterable[Fact]], ...] = (
    find_early_pass,
    find_missed_atari,
    find_ko,
    find_ladder_facts,
    find_fates,
    find_connections,
    find_filled,
    find_regions_changed,
)


def next_to_explain(mistakes: Sequence[Mistake], explained: Collection[int]) -> MoveReview | None:
    """Returns the most costly move that is worth explaining and has not been; None if there is none.

    Args:
        mistakes: The mistakes in the order of their cost.
        explained: The numbers of the moves that have been explained.
    """
    if len(explained) >= MOST_EXPLAINED:
        return None
    for order, worst in enumerate(mistake.worst for mistake in mistakes):
        if worst.number in explained or worst.points_loss < LEAST_TOLD:
            continue
        if order < LISTED or worst.points_loss > EXPLAINED_ABOVE:
            return worst
    return None


def explain(searches: Searches, game: Game, move: MoveReview, *, others: bool = True) -> tuple[Reason, ...]:
    """Returns why a move is a mistake, the most telling first, and then what other likely moves would lose.

    Args:
        searches: How to search.
        game: The position before the move.
        move: The move, which the second look has checked.
        others: Whether to say what other likely moves would lose, for which they have to be searched.

    Returns:
        The reasons; none if the searches that have to confirm them find no loss, or are stopped.
    """
    first = study_in(game, move)
    second = seen_deeper(searches, first)
    if second is None or second.points_loss < LEAST_TOLD:
        return ()
    studies = (first, second)
    sceptical = min(studies, key=lambda study: study.points_loss)
    facts = [as_seen_by(sceptical, fact) for fact in facts_about(searches, studies)]
    if facts and others:
        facts += find_tempting(searches, move.before, first, seen_deeper)
    return tuple(first.reason(fact) for fact in facts)


def caught_in_a_ladder(reasons: Sequence[Reason]) -> frozenset[int]:
    """Returns the stones that a ladder catches, if that is the first reason."""
    first = reasons[:1]
    return frozenset(*(each.points for each in first if each.sentence.name in ("reason.catches", "reason.caught")))


def find_purpose(searches: Searches, game: Game, move: Move) -> tuple[Reason, ...]:
    """Returns what a move does that a pass in its place would not, the most telling first.

    They are the reasons for which the pass would be a mistake; none if it would be none, or the searches are stopped.

    Args:
        searches: How to search.
        game: The position before the move.
        move: The move.
    """
    first = None if move.point == PASS else study_of(searches, game, move.colour, PASS, move.point)
    second = None if first is None or first.points_loss < LEAST_TOLD else seen_deeper(searches, first)
    if first is None or second is None or second.points_loss < LEAST_TOLD:
        return ()
    facts = (fact for fact in facts_about(searches, (first, second)) if fact.name != EARLY_PASS)  # nobody has passed
    return tuple(first.reason(fact) for fact in facts)


def facts_about(searches: Searches, studies: Sequence[Study]) -> list[Fact]:
    """Returns what to say about a mistake, the most telling first: what the first study shows and all others see.

    Args:
        searches: How to search.
        studies: Studies of the mistake by different searches.
    """
    first, *others = studies
    found = [fact for fact in find_facts(first) if all(fact.holds(study, _AGREED) for study in others)]
    # A threat is told only if nothing else is: two more searches.
    return choose(found) or [*find_sente(with_threats(searches, first))]


def study_in(game: Game, move: MoveReview) -> Study:
    """Returns what the second look at a move shows: the searches of the positions before and after it.

    Args:
        game: The position before the move.
        move: The move, which the second look has checked.
    """
    colour, point = move.move
    return Study(colour, variation_after(game, colour, point, move.after), best_variation(game, move.before))


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
        games = [game.after(colour, move) for move in (played, better)]
    except UserError:
        return None
    reports = _search(searches.times(LINE_FACTOR), games)
    if reports is None:
        return None
    found = zip((played, better), reports, strict=True)
    return Study(colour, *(variation_after(game, colour, move, report) for move, report in found))


def seen_deeper(searches: Searches, study: Study) -> Study | None:
    """Returns the lines of a study with what a search two moves later in each finds; None if that is stopped."""
    lines = (study.played, study.better)
    reports = _search(searches.times(LINE_FACTOR), [line.deeper.copy() for line in lines])
    if reports is None:
        return None
    return Study(study.colour, *(line.seen_by(report) for line, report in zip(lines, reports, strict=True)))


def with_threats(searches: Searches, study: Study) -> Study:
    """Returns a study that knows what each move gains if the opponent passes; without that if it was stopped."""
    lines = (study.played, study.better)
    if PASS in (study.move, study.best):
        return study
    reports = _search(searches, [line.games[1].after(opponent(study.colour), PASS) for line in lines])
    if reports is None:
        return study
    played, better = (_with_threat(line, report) for line, report in zip(lines, reports, strict=True))
    return replace(study, played=played, better=better)


def _search(searches: Searches, games: Sequence[Game]) -> list[SearchReport] | None:
    """Searches positions; None if the searches are stopped."""
    reports = list(searches.reports(games, ownership=True))
    return reports if len(reports) == len(games) else None


def find_facts(study: Study) -> list[Fact]:
    """Returns all facts that a study shows without further searches, the most telling first.

    Facts about the whole board come first, then those about the part of it where the better move gains most: first the
    facts about stones, ordered by what the stones gain, then those about points.
    """
    parts = gaining_parts(study)

    def order(fact: Fact) -> tuple[float, float]:
        about = fact.claim.points if fact.claim else fact.points
        gained = max((study.gain(part) for part in parts if about & part), default=0.0) if about else math.inf
        return -gained, -(0.0 if fact.name in REGIONS else study.gain(about))

    return sorted((fact for find in _FINDERS for fact in find(study)), key=order)


def choose(facts: Sequence[Fact]) -> list[Fact]:
    """Returns the facts to tell: the first ones, of those about the same stones only one."""
    chosen: list[Fact] = []
    for fact in facts:
        if len(chosen) < _MOST_SENTENCES and not any(_is_same(fact, other) for other in chosen):
            chosen.append(fact)
    return chosen


def _is_same(fact: Fact, other: Fact) -> bool:
    """Whether two facts share half of the points of the smaller one, or say the same of any point.

    Where chains meet is told beside what becomes of them.
    """
    if (fact.name in _CONNECTIONS) != (other.name in _CONNECTIONS):
        return False
    shared = len(fact.points & other.points)
    smaller = len(other.points) if fact.name in REGIONS else min(len(fact.points), len(other.points))
    return shared > 0 and (2 * shared >= smaller or fact.name == other.name)


def _with_threat(line: Variation, ignored: SearchReport) -> Variation:
    """Returns a line with what its first move threatens, by the search of the position after a pass as the answer."""
    lead = ignored.moves[0].lead if ignored.moves else ignored.lead
    return replace(line, gain_if_ignored=lead - line.lead, threat=searched_line(ignored))
