"""The turning points of a game: its most costly mistakes, with diagrams of what was played and what was better."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...game.coords import EMPTY, PASS, opponent, xy
from ...game.drawing import BoardDrawing
from ...languages.texts import DEFAULT
from ...search.report import SearchReport
from ..game_review import GameReview, Reason
from ..mistakes import Mistake, loss_class
from ..review import MoveReview, black_lead, black_winrate
from .script_data import stones_of
from .wording import wording

# At most ten, and fewer if less than ten cost 1.5 points (a doubtful move), but then at least five.
MOST, FEWEST, DOUBTFUL = 10, 5, 2
_MOVES_SHOWN = 6  # of a line: more are hard to follow on one diagram
_PIXELS = 360


@dataclass(frozen=True)
class Diagram:
    """A line on a board.

    Attributes:
        svg: The board with the moves numbered.
        moves: The names of the moves, in order.
        lead: Black's lead in points, after the move played or before the better one: the two differ by the cost.
        winrate: Black's win rate, 0 to 1, likewise.
    """

    svg: str
    moves: tuple[str, ...]
    lead: float
    winrate: float


@dataclass(frozen=True)
class TurningPoint:
    """A costly mistake.

    Attributes:
        mistake: The mistake; the diagrams show its worst move.
        played: What was played, and how it goes on.
        better: What was better, and how it would have gone on.
        reasons: Why it is a mistake.
    """

    mistake: Mistake
    played: Diagram
    better: Diagram
    reasons: tuple[Reason, ...]

    @property
    def move(self) -> MoveReview:
        """The move."""
        return self.mistake.worst


def turning_points(review: GameReview, name: str = "", language: str = DEFAULT) -> list[TurningPoint]:
    """Returns the turning points of a game, in the order of the game.

    Args:
        review: The review.
        name: Tells the diagrams apart from those of other games on the same page.
        language: The language of the diagrams' titles.
    """
    mistakes = review.mistakes[:MOST]
    doubtful = [mistake for mistake in mistakes if loss_class(mistake.worst.points_loss) >= DOUBTFUL]
    chosen = mistakes[: max(FEWEST, len(doubtful))]
    return [
        _turning_point(review, mistake, name, language)
        for mistake in sorted(chosen, key=lambda mistake: mistake.worst.number)
    ]


def _turning_point(review: GameReview, mistake: Mistake, name: str, language: str) -> TurningPoint:
    move = mistake.worst
    best = move.before.best
    follow_up = move.after.moves[0].pv if move.after.moves else ()
    words = wording(language)

    def diagram(kind: str, line: Sequence[int], after: SearchReport) -> Diagram:
        title = words.text(f"diagram.{kind}", number=move.number, vertex=words.vertex(move.move.point, move))
        svg = _line_drawing(move.before, line[:_MOVES_SHOWN], title, f"{name} {kind}")
        names = tuple(words.vertex(point, move) for point in line[:_MOVES_SHOWN])
        return Diagram(svg, names, black_lead(after), black_winrate(after))

    return TurningPoint(
        mistake,
        diagram("played", (move.move.point, *follow_up), move.after),
        diagram("better", best.pv, move.before),
        tuple(review.reasons.get(move.number, ())),
    )


def _line_drawing(before: SearchReport, line: Sequence[int], title: str, name: str) -> str:
    """Draws a line as books do: captured stones stay on the board, and each point has the first move there."""
    stones = stones_of(before).copy()
    labels: dict[int, str] = {}
    colour = before.to_move
    for number, point in enumerate(line, start=1):
        column, row = (0, 0) if point == PASS else xy(point, before.width)
        if point != PASS and stones[row, column] == EMPTY:
            stones[row, column] = colour
            labels[point] = str(number)
        colour = opponent(colour)
    return BoardDrawing(stones, labels=labels, title=title, name=name, pixels=_PIXELS).to_svg()
