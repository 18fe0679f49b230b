"""Mistakes of reviewed games with what the review and a judge found about them, kept in a folder from run to run.

A file for each game has its mistakes. The judge's searches, which take nearly all of the time, are of use as long as
the review takes the same moves for mistakes, whatever it says about them.
"""

import os
import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from common import games_in, lines_of

from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport
from gtp_engine.study.move_review import LISTED, MoveReview, find_mistakes
from gtp_engine.study.reasons.explain import EXPLAINED_ABOVE, MOST_EXPLAINED, study_in
from gtp_engine.study.reasons.variation import Study, Variation, play_line
from gtp_engine.study.searches import Positions, Searches, look_again, review_moves

Lines = list[tuple[Any, ...]]  # a study without its positions, which follow from its moves


@dataclass
class Case:
    """A mistake that a review explains.

    Attributes:
        number: The number of the move.
        colour: The player.
        played: The point of the move.
        best: The point of the better move.
        first: What the second look shows.
        deeper: What the searches two moves later show, by their length (`explain.LINE_FACTOR`).
        judged: What the judge found; None before it was asked.
        before: A second look at the position before it; None before it was searched.
        others: The leads of the player after other moves, by the judge; None before it was asked.
    """

    number: int
    colour: int
    played: int
    best: int
    first: Lines
    deeper: dict[int, Lines] = field(default_factory=dict)
    judged: Lines | None = None
    before: SearchReport | None = None
    others: dict[int, float] | None = None


def packed(study: Study) -> Lines:
    """Returns a study without its positions."""
    return [
        (line.line, line.ownership, line.lead, line.gain_if_ignored, line.threat)
        for line in (study.played, study.better)
    ]


def unpacked(game: Game, colour: int, lines: Lines) -> Study:
    """Returns a study with its positions.

    Args:
        game: The position before the mistake.
        colour: The player.
        lines: The study without them.
    """
    return Study(colour, *(Variation(line, play_line(game, colour, line), *found) for line, *found in lines))


class Group:
    """The games of one kind, and what is kept of them.

    Attributes:
        name: The archive, and the beginning of its members' names if only some are taken.
    """

    def __init__(self, name: str, folder: Path, seed: int) -> None:
        """Takes the games of an archive in an order that depends on the seed alone.

        Args:
            name: The file, which may be followed by a colon and the beginning of its members' names.
            folder: Where the mistakes are kept.
            seed: Of the order, and of the mistakes that are taken.
        """
        archive, _, member = name.partition(":")
        self.name, self._archive, self._member, self._seed = name, Path(archive), member, seed
        self._folder = folder / f"{self._archive.stem} {member}".strip()

    def cases(
        self, each: int, searches: Callable[[int], Searches] | None
    ) -> Iterator[tuple[str, Game, Case, Callable[[], None]]]:
        """Yields mistakes: the name of the game, the position, the mistake, and what keeps it when it has changed.

        Args:
            each: How many mistakes of one game are taken, by chance.
            searches: Returns how a board of a size is searched; None to take only games that are kept.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        lines = list(lines_of(self._archive, self._member))
        random.Random(self._seed).shuffle(lines)
        for name, record in games_in(lines):
            path, positions = self._folder / f"{name.replace(':', ' ')}.pickle", Positions(record)
            if path.exists():
                cases = pickle.loads(path.read_bytes())
            elif searches is None or positions.problem:  # an illegal move
                continue
            else:
                cases = explained_cases(searches(max(record.width, record.height)), positions)
                cases = random.Random(f"{self._seed} {name}").sample(cases, min(each, len(cases)))
                keep(path, cases)
            for case in cases:
                yield f"{name} move {case.number}", positions[case.number - 1], case, partial(keep, path, cases)


def keep(path: Path, cases: list[Case]) -> None:
    """Writes the mistakes of a game, whole or not at all."""
    temporary = path.with_suffix(".part")
    temporary.write_bytes(pickle.dumps(cases))
    os.replace(temporary, path)


def explained_cases(searches: Searches, positions: Positions) -> list[Case]:
    """Returns the mistakes of a game that a review explains."""
    moves = tuple(review_moves(searches, positions))
    *_, moves = moves, *look_again(searches, positions, moves)
    checked = [mistake.worst for mistake in find_mistakes(moves) if mistake.worst.is_checked]
    worth_it = [move for order, move in enumerate(checked) if order < LISTED or move.points_loss > EXPLAINED_ABOVE]
    return [_case(positions, move) for move in worth_it[:MOST_EXPLAINED]]


def _case(positions: Positions, move: MoveReview) -> Case:
    first = packed(study_in(positions[move.number - 1], move))
    return Case(move.number, move.move.colour, move.move.point, move.best, first)
