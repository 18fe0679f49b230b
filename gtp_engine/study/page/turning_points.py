"""The turning points of a game: its most costly mistakes, with diagrams of what was played and what was better."""

from collections.abc import Sequence
from typing import NamedTuple

from ...base.languages.texts import DEFAULT
from ...go.coords import EMPTY, PASS, opponent, xy
from ...go.drawing import BoardDrawing
from ...search.report import SearchReport
from ..game_review import GameReview
from ..mistakes import Mistake, loss_class
from .script_data import stones_of
from .wording import Wording, wording

# At most ten, and fewer if less than ten cost 1.5 points (a doubtful move), but then at least five.
MOST, FEWEST, DOUBTFUL = 10, 5, 2
_MOVES_SHOWN = 6  # of a line: more are hard to follow on one diagram
_PIXELS = 360


class Diagram(NamedTuple):
    """A line on a board.

    Attributes:
        svg: The board with the moves numbered.
        moves: The names of the moves, in order.
        value: The value after the move played, or before the better one: the two differ by the cost.
    """

    svg: str
    moves: tuple[str, ...]
    value: str


class TurningPoint(NamedTuple):
    """A costly mistake: diagrams show what was played and what was better, and how it goes on."""

    mistake: Mistake
    played: Diagram
    better: Diagram


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
    found = sorted(chosen, key=lambda mistake: mistake.worst.number)
    return [_turning_point(mistake, name, wording(language)) for mistake in found]


def _turning_point(mistake: Mistake, name: str, words: Wording) -> TurningPoint:
    move = mistake.worst
    follow_up = move.after.moves[0].pv if move.after.moves else ()

    def diagram(kind: str, line: Sequence[int], after: SearchReport) -> Diagram:
        title = words.text(f"diagram.{kind}", number=move.number, vertex=words.vertex(move.move.point, move))
        svg = _line_drawing(move.before, line[:_MOVES_SHOWN], title, f"{name} {kind}")
        return Diagram(svg, tuple(words.vertex(point, move) for point in line[:_MOVES_SHOWN]), words.value(after))

    played = diagram("played", (move.move.point, *follow_up), move.after)
    return TurningPoint(mistake, played, diagram("better", move.before.best.pv, move.before))


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
