"""A mistake as the two lines that show it: one begins with the move played, the other with the better move."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import NamedTuple

import numpy as np

from ...base.languages.texts import Phrase, Value
from ...go.coords import EMPTY, PASS, colour_name, distance, opponent, vertex
from ...go.game import Game, IllegalMove
from ...go.regions import cells_of, find_regions, points_of
from ...search.report import SearchReport
from ..game_review import Reason
from ..move_review import LONGEST_VARIATION

# Moves of a line with fewer visits are no more than the policy's guess; visits fall along a line.
LEAST_VISITS = 4
# How much more a player owns points after one move than after the other, in ownership (-1 to 1), if they change owners.
# Sacrifices and exchanges change nothing, and chains that are cut may live anyway: below it a stronger network refuted
# most captures of single stones, and small networks misjudged large groups.
CHANGED = 0.8
# Half of that: the change of stones that are in danger, and how surely they still belong to one player then; and the
# doubt about the owners that another search may add if it need see nothing of a claim.
HALF_CHANGED = CHANGED / 2
# What is left of a certain ownership: a point is nobody's within it, and beyond it a search agrees with a proof.
DOUBTFUL = 1 - CHANGED
# Points that a mistake costs, by both searches, if its reasons are told, and that one of them is about. Of 11 sentences
# about mistakes that cost less b18c384nbt denied 4, of 98 others 4 (`benchmarks/reason_accuracy.py`).
LEAST_TOLD = 2.0
# Stones and points that are more steps from a move are not credited to it. By judgement.
_NOT_FAR = 4


class Claim(NamedTuple):
    """Who owns some points, as a search has to see it for a fact to hold; None for what does not matter.

    Attributes:
        points: The points.
        better: The least mean ownership after the better move, in -1..1, + for the player of the mistake.
        played: The most after the move played.
        change: The least difference between the two.
        gain: The least number of points gained there.
        kept: The least share of the points gained there that the player has more in all.
        loss: The least number of points that the player has more in all.
        parts: Subsets of the points that each have to meet `better` and `played`; if empty, all points together.
    """

    points: frozenset[int]
    better: float | None = None
    played: float | None = None
    change: float | None = None
    gain: float | None = None
    kept: float | None = None
    loss: float | None = None
    parts: tuple[frozenset[int], ...] = ()

    def holds(self, study: "Study", share: float = 1.0) -> bool:
        """Returns whether a study sees it, or at least this share of the change, and the owners with as much doubt."""
        parts = self.parts or (self.points,)
        slack = (1 - share) * HALF_CHANGED
        return (
            (self.better is None or min(map(study.better.owned, parts)) >= self.better - slack)
            and (self.played is None or max(map(study.played.owned, parts)) <= self.played + slack)
            and (self.change is None or study.change(self.points) >= share * self.change)
            and (self.gain is None or study.gain(self.points) >= self.gain)
            and (self.kept is None or study.points_loss >= self.kept * study.gain(self.points))
            and (self.loss is None or study.points_loss >= self.loss)
        )


@dataclass(frozen=True)
class Fact:
    """Something about a mistake that the rules, the solver or the search have shown.

    Attributes:
        name: The name of the sentence that states it, without "reason.".
        line: The points of the moves that show it, as `Reason.line`.
        points: The stones or the points that it is about; two facts about the same are told only once.
        values: What the sentence is filled in with, besides the two moves and the two players.
        claim: What any other search has to see, too; None if the rules alone prove the fact.
    """

    name: str
    line: tuple[int, ...]
    points: frozenset[int] = frozenset()
    values: Mapping[str, Value] = field(default_factory=dict)
    claim: Claim | None = None

    def holds(self, study: "Study", share: float = 1.0) -> bool:
        """Returns whether another study of the mistake confirms it, as `Claim.holds`."""
        return self.claim is None or self.claim.holds(study, share)


@dataclass(frozen=True, eq=False)
class Variation:
    """A line from the position before a move, and what a search found of the position after its first move.

    Attributes:
        line: The points of its moves.
        games: The position before the line and after each of its moves.
        ownership: float32 [height, width] in -1..1, + for the player of the first move, after that move.
        lead: This player's lead after the first move, in points.
        gain_if_ignored: The points that this player gains if the opponent answers with a pass; None if unknown.
        threat: The points of the moves after this pass.
    """

    line: tuple[int, ...]
    games: tuple[Game, ...]
    ownership: np.ndarray
    lead: float
    gain_if_ignored: float | None = None
    threat: tuple[int, ...] = ()

    @property
    def end(self) -> Game:
        """The position at the end of the line."""
        return self.games[-1]

    @property
    def deeper(self) -> Game:
        """The position two moves after the first move, or that after the first one if the line is shorter."""
        return self.games[3] if len(self.games) > 3 and not self.games[3].is_over else self.games[1]

    def seen_by(self, report: SearchReport) -> "Variation":
        """Returns the line with the values that a search with ownership of `deeper` found."""
        ownership, lead = _values(report, opponent(self.games[1].to_move))
        return replace(self, ownership=ownership, lead=lead)

    def owned(self, points: frozenset[int]) -> float:
        """Returns the mean ownership of points, in -1..1, + for the player of the first move."""
        return float(np.mean([self.ownership[cell] for cell in cells_of(points, self.end.width)]))

    def removals(self) -> list[frozenset[int]]:
        """Returns the points that each move of the line empties."""
        boards = [game.stones() for game in self.games]
        return [points_at((before != EMPTY) & (after == EMPTY)) for before, after in pairwise(boards)]


@dataclass(frozen=True, eq=False)
class Study:
    """A mistake as the finders of facts see it.

    Attributes:
        colour: The player of the move.
        played: The line that begins with the move played.
        better: The line that begins with the better move.
    """

    colour: int
    played: Variation
    better: Variation

    @property
    def game(self) -> Game:
        """The position before the move."""
        return self.played.games[0]

    @property
    def move(self) -> int:
        """The point of the move played."""
        return self.played.line[0]

    @property
    def best(self) -> int:
        """The point of the better move."""
        return self.better.line[0]

    @property
    def points_loss(self) -> float:
        """The points that the move played costs, by the searches of the two lines; below 0 if it is the better one."""
        return self.better.lead - self.played.lead

    def change(self, points: frozenset[int]) -> float:
        """Returns by how much more the player owns points after the better move, as a mean from -2 to 2."""
        return self.better.owned(points) - self.played.owned(points)

    def gain(self, points: frozenset[int]) -> float:
        """Returns how many of these points, and of the stones on them, the player has more after the better move."""
        return len(points) * self.change(points) if points else 0.0

    def is_near(self, points: Iterable[int], *moves: int, steps: int = _NOT_FAR) -> bool:
        """Returns whether points are near one of some moves; none is near a pass.

        By default it is the better move, or the one played if a pass is better: what changes far from it says more
        about the moves that follow, or about the searches.
        """
        credited = self.best if self.best != PASS else self.move
        played = [move for move in moves or (credited,) if move != PASS]
        return any(distance(move, point, self.game.width) <= steps for move in played for point in points)

    def stones(self, stones: Iterable[int], colour: int | None = None) -> Phrase:
        """Returns stones by their number and the one that is nearest to their middle: "Black's 5 stones at K10".

        Stones of several chains are around it.

        Args:
            stones: Their points.
            colour: Whose they are; None if the sentence has said it.
        """
        points = sorted(stones)
        cells = np.array(cells_of(points, self.game.width))
        nearest = points[int(np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1)))]
        found: dict[str, Value] = {"count": len(points), "place": self._vertex(nearest)}
        if colour is None:
            return Phrase("reason.stones", found)
        shown = np.full((self.game.height, self.game.width), EMPTY, np.int8)
        shown[tuple(cells.T)] = colour
        is_one = sum(region.colour == colour for region in find_regions(shown)) == 1
        name = "reason.stonesOf" if is_one else "reason.stonesAround"
        return Phrase(name, {**found, "owner": Phrase(colour_name(colour))})

    def reason(self, fact: Fact) -> Reason:
        """Returns a fact as a sentence with its line."""
        known: dict[str, Value] = {
            "played": self._vertex(self.move),
            "better": self._vertex(self.best),
            "player": Phrase(colour_name(self.colour)),
            "opponent": Phrase(colour_name(opponent(self.colour))),
        }
        # Of a pass players say what happens if nobody plays there, whether it was played or is only what a move avoids.
        known["otherwise"] = Phrase("reason.unplayed" if self.move == PASS else "reason.after", {**known})
        return Reason(Phrase(f"reason.{fact.name}", {**known, **fact.values}), fact.line, fact.points)

    def _vertex(self, point: int) -> Value:
        return Phrase("reason.pass") if point == PASS else vertex(point, self.game.width, self.game.height)


def play_line(game: Game, colour: int, line: Sequence[int]) -> tuple[Game, ...]:
    """Returns the position before a line and after each move of it, up to the first that the board refuses.

    A move that superko forbids is played: records contain such moves.

    Args:
        game: The position before the line.
        colour: The player of the first move.
        line: The points of the moves.
    """
    games = [game]
    for point in line:
        after = games[-1].copy()
        try:
            after.play(colour, point)
        except IllegalMove:
            break
        games.append(after)
        colour = after.to_move
    return tuple(games)


def variation_after(game: Game, colour: int, first: int, after: SearchReport) -> Variation:
    """Returns the line of a first move and of the main line that a search with ownership found after it.

    Args:
        game: The position before the first move.
        colour: The player of the first move.
        first: The point of the first move.
        after: The search of the position after it, with ownership.
    """
    return _variation(game, colour, (first, *searched_line(after)), _values(after, colour))


def best_variation(game: Game, before: SearchReport) -> Variation:
    """Returns the main line that a search of a position found, with the owners after its first move.

    Its lead is that of the position, from which the costs of other moves are counted.
    """
    best = before.moves[0]
    assert best.ownership is not None
    line = searched_line(before) or (best.point,)
    return _variation(game, before.to_move, line, (best.ownership, before.lead))


def _variation(game: Game, colour: int, line: tuple[int, ...], values: tuple[np.ndarray, float]) -> Variation:
    games = play_line(game, colour, line[:LONGEST_VARIATION])
    return Variation(line[: len(games) - 1], games, *values)


def _values(report: SearchReport, colour: int) -> tuple[np.ndarray, float]:
    """Returns ownership and lead for a colour."""
    return report.ownership_of(colour), report.lead if report.to_move == colour else -report.lead


def searched_line(report: SearchReport) -> tuple[int, ...]:
    """Returns the main line as far as it has been searched: those of its moves that have `LEAST_VISITS`."""
    if not report.moves:
        return ()
    best = report.moves[0]
    return best.pv[: len(list(takewhile(lambda visits: visits >= LEAST_VISITS, best.pv_visits)))]


def points_at(mask: np.ndarray) -> frozenset[int]:
    """Returns the points at which a bool array [height, width] is True."""
    return frozenset(points_of(((row, column) for row, column in np.argwhere(mask).tolist()), mask.shape[1]))
