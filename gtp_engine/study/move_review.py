"""The moves of a reviewed game, what each of them cost, and the mistakes among them."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from ..base.languages.texts import DEFAULT, texts
from ..go.coords import BLACK, colour_name
from ..go.game import Move
from ..search.report import SearchReport
from .level import EVERYBODY, Level

# The points lost from which each class of mistakes begins: KaTrain's thresholds (`config.json`, `eval_thresholds`).
CLASSES = (0.5, 1.5, 3.0, 6.0, 12.0)
LEAST_POINTS = CLASSES[0]  # a move that costs less does not count as a mistake
# A mistake that has not been made again for longer than this many moves counts anew.
LONGEST_GAP = 10
LISTED = 10  # the most important mistakes, which are listed and checked by a second look
_LEAST_WITH_PHASES = 13  # rows and columns: on 9x9 fights go on where the shares of `Phase` have the endgame begin
LONGEST_VARIATION = 12  # moves of a better line: those after them have hardly been searched


class Phase(Enum):
    """A phase of the game by the number of moves played, as a percentage of the board's points at which it begins.

    The shares are KaTrain's (its game report): on 19x19 the middle game begins with move 51, the endgame with move 145.
    """

    OPENING = 0
    MIDDLE_GAME = 14
    ENDGAME = 40

    @property
    def label(self) -> str:
        """Its name as text."""
        return self.name.lower().replace("_", " ")

    @classmethod
    def on(cls, width: int, height: int) -> list["Phase"]:
        """Returns the phases of a game on a board of this size: none if it is smaller than 13x13."""
        return [*cls] if min(width, height) >= _LEAST_WITH_PHASES else []

    def first_move(self, width: int, height: int) -> int:
        """Returns the number of the move with which it begins on a board of this size."""
        return max(1, -(-self.value * width * height // 100))


class Worth(NamedTuple):
    """What a position is worth.

    Attributes:
        lead: Black's lead in points.
        winrate: Black's win rate, 0 to 1.
    """

    lead: float
    winrate: float


@dataclass(frozen=True)
class MoveReview:
    """One move of a record.

    The cost of a move is the amount by which the game's curve falls with it: the value of the position before it minus
    that of the position after it. Both come from the longest search of their position so far: of the first look, of the
    second one (`searches.look_again`), or of an earlier answer about the game (`known_reports`). A move that the search
    prefers costs nothing even if the value falls, since no better one is known.

    A mistake counts once: a player loses by it what its most costly move has cost, and nothing by the others.

    Attributes:
        number: The number of the move, from 1.
        move: The move.
        before: The search of the position before it.
        after: The search of the position after it.
        is_checked: Whether both are the longer searches of a second look (`searches.look_again`).
        has_setup: Whether the record sets up or removes stones between the two positions. They cannot be compared then:
            the move costs nothing, and is not judged.
        ends_game: Whether it is one of the passes that end the record, at least two. Both players agreed that nothing
            was left to play, so the move costs nothing.
        ladder: The stones that a ladder catches, if that is the first reason why the move is a mistake.
        repeats: The number of the most costly move of the same mistake (`Mistake.worst`), with which it counts; None
            for that move itself, and for moves that are not mistakes.
        level: What leads are worth in the game.
    """

    number: int
    move: Move
    before: SearchReport
    after: SearchReport
    is_checked: bool = False
    has_setup: bool = False
    ends_game: bool = False
    ladder: frozenset[int] = frozenset()
    repeats: int | None = None
    level: Level = EVERYBODY

    @property
    def best(self) -> int:
        """The point that the search prefers to play; the move itself if it is a mirror image of that one."""
        is_best = not self.before.moves or self.before.is_best(self.move.point)
        return self.move.point if is_best else self.before.moves[0].point

    @property
    def better_line(self) -> tuple[int, ...]:
        """The points of the line that begins with the preferred move; empty if that move was played."""
        return () if self.move.point == self.best else self.before.moves[0].pv

    @property
    def place(self) -> int | None:
        """The place of the move played among those that the search tried, from 1; None if it did not try it.

        Mirror images have one place.
        """
        found = self.before.move_at(self.move.point)
        searched = [move.point for move in self.before.searched]
        return None if found is None else searched.index(found.searched_point) + 1

    @property
    def phase(self) -> Phase | None:
        """The phase in which the move was played; None on a board without phases."""
        board = self.before.width, self.before.height
        begun = [phase for phase in Phase.on(*board) if phase.first_move(*board) <= self.number]
        return begun[-1] if begun else None

    @property
    def winrate(self) -> float:
        """Black's win rate after the move, 0 to 1."""
        return worth(self.after).winrate

    @property
    def lead(self) -> float:
        """Black's lead after the move, in points."""
        return worth(self.after).lead

    @property
    def drop(self) -> Worth:
        """By how much the mover's lead and win rate fall with the move; negative if they rise.

        They are rounded to the tenth of a point or of a percent that is shown: what is told has to agree with what is
        compared, such as the least cost of a mistake.
        """
        is_judged = not (self.has_setup or self.ends_game)
        return _fall(self.before, self.after, self.move.colour) if is_judged else Worth(0.0, 0.0)

    @property
    def cost(self) -> Worth:
        """What the move by itself has cost, as `drop`; nothing if the search would have played it too."""
        return Worth(0.0, 0.0) if self.move.point == self.best else Worth(*(max(0.0, fall) for fall in self.drop))

    @property
    def winrate_loss(self) -> float:
        """The win rate that the player has lost by the move, 0 to 1: its cost, but mistakes count once."""
        return self.cost.winrate if self.repeats is None else 0.0

    @property
    def points_loss(self) -> float:
        """The points that the player has lost by the move: its cost, but mistakes count once."""
        return self.cost.lead if self.repeats is None else 0.0

    def weight(self, points: float) -> float:
        """Returns what so many points that the move may have cost are worth to these players (`Level.weight`)."""
        return self.level.weight(self.move.colour, self.number, worth(self.before).lead, points)

    @property
    def importance(self) -> float:
        """What mistakes are ordered by: what the points that the move has cost are worth."""
        return self.weight(self.cost.lead)

    @property
    def has_cost(self) -> bool:
        """Whether the move has lost any points or win rate."""
        return self.points_loss > 0 or self.winrate_loss > 0

    @property
    def complexity(self) -> float:
        """The points that a move drawn from the policy is expected to lose here, at most 1.

        The mean loss of the moves that the search tried, weighted by their priors: KaTrain's measure of how hard it is
        to find a good move (`core/ai.py`, `game_report`).
        """
        moves = self.before.moves
        weight = sum(move.prior for move in moves)
        if not weight:
            return 0.0
        return min(1.0, sum(move.prior * max(0.0, moves[0].lead - move.lead) for move in moves) / weight)

    def vertex(self, point: int) -> str:
        """Returns the name of a point on this board, "pass" for a pass."""
        return self.before.vertex(point)

    def line_text(self, line: Iterable[int]) -> str:
        """Returns a line of play as the names of its points."""
        return " ".join(map(self.vertex, line))

    def to_svg(self, pixels: float | None = None) -> str:
        """Draws the position after the move, with the candidates that the search found in its place.

        Args:
            pixels: The width of the drawing; None for that of `BoardDrawing`.
        """
        others = [candidate for candidate in self.before.candidates() if candidate.point != self.move.point]
        return self.after.to_svg(candidates=others, title=cost_text(self), pixels=pixels, ownership=None)

    def __repr__(self) -> str:
        return f"<MoveReview: {cost_text(self)}>"


def cost_text(review: MoveReview) -> str:
    """Returns a move in words, and its cost if it has any: `34 white D4 (-2.5 points, -12.3%; E5 is better)`."""
    played = f"{review.number} {colour_name(review.move.colour)} {review.vertex(review.move.point)}"
    if review.repeats is not None:
        return f"{played} (the same mistake as move {review.repeats}; {review.vertex(review.best)} is better)"
    if not review.has_cost:
        return played
    cost = f"{with_minus(review.points_loss)} points, {with_minus(100 * review.winrate_loss)}%"
    return f"{played} ({cost}; {review.vertex(review.best)} is better)"


def with_minus(loss: float) -> str:
    """Returns a loss as text with a minus in front, but none in front of a zero: "-2.5", "0.0"."""
    return f"{round(-loss, 1) + 0:.1f}"


def whole(points: float) -> int:
    """Returns points as a whole number, as sentences and stones tell them, from the tenths that tables show.

    Half a point is rounded up: it is not read as 0.
    """
    return int(round(points, 1) + 0.5)


def worth(report: SearchReport) -> Worth:
    """Returns what the position of a search is worth."""
    return Worth(report.lead, report.winrate) if report.to_move == BLACK else Worth(-report.lead, 1 - report.winrate)


def _fall(first: SearchReport, second: SearchReport, colour: int) -> Worth:
    """Returns by how much less the second position is worth to a player than the first one, as `MoveReview.drop`."""
    before, after, sign = worth(first), worth(second), 1 if colour == BLACK else -1
    return Worth(sign * round(before.lead - after.lead, 1), sign * round(before.winrate - after.winrate, 3))


@dataclass(frozen=True)
class Mistake:
    """A mistake that a player made, once or several times.

    Attributes:
        misses: The moves that made it, in order.
        worst: The most costly one.
    """

    misses: tuple[MoveReview, ...]
    worst: MoveReview

    @property
    def is_checked(self) -> bool:
        """Whether a second look has confirmed one of the moves."""
        return any(miss.is_checked for miss in self.misses)

    @property
    def span(self) -> str:
        """The numbers of the moves as text: "65", or "127-136"."""
        first, last = self.misses[0].number, self.misses[-1].number
        return str(first) if first == last else f"{first}-{last}"

    def __repr__(self) -> str:
        place = "" if len(self.misses) == 1 else f"moves {self.span}; worst: "
        return f"<Mistake: {place}{cost_text(self.worst)}>"


def loss_class(points: float) -> int:
    """Returns the class of a loss: the number of `CLASSES` that it reaches, 0 for a good move."""
    return bisect_right(CLASSES, points)


def class_label(number: int, language: str = DEFAULT) -> str:
    """Returns the losses of a class as text, such as "0.5 to 1.5"."""
    text = texts(language)
    if number == 0:
        return text("players.below", high=f"{CLASSES[0]:g}")
    if number == len(CLASSES):
        return text("players.above", low=f"{CLASSES[-1]:g}")
    return text("players.between", low=f"{CLASSES[number - 1]:g}", high=f"{CLASSES[number]:g}")


def find_mistakes(moves: Sequence[MoveReview], player: int | None = None) -> list[Mistake]:
    """Returns the mistakes, the most important first (`MoveReview.importance`).

    A move makes a mistake again if it leaves the same point open after at most `LONGEST_GAP` moves, and the opponent
    has given back at least half of what one of the two moves costs: what has not been given back is lost in addition.
    It also makes it again if it leaves the same ladder open, whatever that costs: one that catches a stone that has
    stood since. A mistake ends when stones are set up.

    Args:
        moves: The reviewed moves of a game, in order.
        player: Only this player's moves count; None for both players' moves.
    """
    ended: list[_Misses] = []
    found: list[_Misses] = []  # those that may be made again
    for review in moves:
        if review.cost.lead >= LEAST_POINTS and player in (None, review.move.colour):
            own = [each for each in found if each.last.move.colour == review.move.colour]
            same = [each for each in own if not each.stones.isdisjoint(review.ladder)]
            same += [each for each in own if _leave_open(each, review)][-1:]
            found = [each for each in found if each not in same]
            found.append(_joined(same, review))
        for each in found:
            each.stones.discard(review.move.point)  # a stone that stood there has been captured
        over = {each for each in found if review.has_setup or each.is_over(review.number)}
        ended += over
        found = [each for each in found if each not in over]
    mistakes = (each.mistake() for each in (*ended, *found))
    return sorted(mistakes, key=lambda mistake: (-mistake.worst.importance, mistake.misses[0].number))


@dataclass(eq=False)
class _Misses:
    """The moves that make a mistake.

    Attributes:
        moves: The moves, in order.
        points: What they leave open: the point that was better than the first of them. There are several of them if the
            mistake turned out to be the same as others.
        stones: The stones that a ladder catches, and that have stood since one of them was told.
    """

    moves: list[MoveReview]
    points: set[int]
    stones: set[int]

    @property
    def last(self) -> MoveReview:
        """The last of the moves."""
        return self.moves[-1]

    def is_over(self, number: int) -> bool:
        """Whether no move after this one can make the mistake again."""
        return not self.stones and number - self.last.number >= LONGEST_GAP

    def mistake(self) -> Mistake:
        """Returns the mistake."""
        return Mistake(tuple(self.moves), max(self.moves, key=lambda miss: (miss.is_checked, miss.cost.lead)))


def _joined(same: Sequence[_Misses], review: MoveReview) -> _Misses:
    """Returns the mistake that these are, with a move that makes it again."""
    moves = {move.number: move for each in same for move in each.moves} | {review.number: review}
    points = set().union(*(each.points for each in same)) or {review.best}
    standing = set(review.ladder).union(*(each.stones for each in same))
    return _Misses([moves[number] for number in sorted(moves)], points, standing)


def _leave_open(misses: _Misses, review: MoveReview) -> bool:
    """Whether a move leaves the same point open as the moves of a mistake, and half was given back in between."""
    if review.best not in misses.points or review.number - misses.last.number > LONGEST_GAP:
        return False
    given_back = _fall(review.before, misses.last.after, review.move.colour).lead
    return given_back >= max(LEAST_POINTS, min(misses.last.drop.lead, review.drop.lead) / 2)


def counted_once(moves: Sequence[MoveReview], mistakes: Sequence[Mistake]) -> tuple[list[MoveReview], list[Mistake]]:
    """Returns the moves of a game and its mistakes, with `MoveReview.repeats` set on the moves that repeat one."""
    others = ((mistake.worst, miss) for mistake in mistakes for miss in mistake.misses if miss is not mistake.worst)
    repeats = {miss.number: worst.number for worst, miss in others}
    counted = [
        move if move.repeats == (first := repeats.get(move.number)) else replace(move, repeats=first) for move in moves
    ]
    known = {move.number: move for move in counted}
    found = [
        replace(each, misses=tuple(known[miss.number] for miss in each.misses), worst=known[each.worst.number])
        for each in mistakes
    ]
    return counted, found
