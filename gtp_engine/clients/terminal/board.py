"""The board drawn in colour, or as plain text if the terminal has no colours."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ...go.coords import BLACK, COLUMNS, EMPTY, WHITE, point_at
from ...go.diagram import (
    DEAD_STONES,
    TERRITORY,
    Marks,
    board_text,
    gaps_in_row,
)
from ...go.game import Game
from ...go.handicap import star_points

# The nearest of the 256 colours keep the contrast: 179 for wood, 94 for lines, 16 and 231 for stones.
WOOD = "#d7af5f"
LINES = "#875f00"
STONES = {BLACK: "#000000", WHITE: "#ffffff"}
# The shapes differ too, so that the colours can be told apart without seeing colours, and in copied text.
STONE_SHAPES = {BLACK: "●", WHITE: "○"}
DEAD_SHAPES = {BLACK: "x", WHITE: "o"}
TERRITORY_SHAPES = {BLACK: "■", WHITE: "□"}
LAST_MOVE = "#d70000"
# Candidate moves from the best to the last, as in the usual analysis programs: blue is best, then green to yellow.
CANDIDATES = ("#5fd7ff", "#87d75f", "#afd75f", "#d7d75f", "#ffd75f")

# Columns that the lines next to the board need: with 80 columns there are as many next to 19x19.
SIDE_WIDTH = 32
_GAP = 3  # columns between the board and these lines


def board_view(
    game: Game, console: Console, marks: Marks | None = None, side: Sequence[RenderableType] = ()
) -> RenderableType:
    """Returns the position as large as the console allows, with the lines of `side` next to it or below it.

    The board is never cut off to make room for the lines, which wrap. Without 256 colours or Unicode it is the plain
    text of `game.diagram`, without the lines.
    """
    compact = console.width < _width(game)
    if not _is_coloured(console):
        text = board_text(game.stones(), game.last_point, marks, compact=compact)
        return Text(f"{text}\n{game.status_line()}", no_wrap=True, overflow="ignore")
    board = colour_board(game, marks, compact=compact)
    if not side:
        return board
    if side_width(game, console) < SIDE_WIDTH:
        return Group(board, *side)
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(width=_width(game), no_wrap=True)
    grid.add_column()
    grid.add_row(board, Group(Text(), *side))
    return grid


def legend(console: Console) -> str:
    """Returns what the marks of territory and dead stones look like on this console."""
    territory, dead = (TERRITORY_SHAPES, DEAD_SHAPES) if _is_coloured(console) else (TERRITORY, DEAD_STONES)
    black, white = territory[BLACK], territory[WHITE]
    return f"{black} black's points, {white} white's points, {dead[BLACK]} {dead[WHITE]} dead stones"


def side_width(game: Game, console: Console) -> int:
    """Returns the number of columns next to the board; 0 if nothing is drawn there."""
    return max(0, console.width - _width(game) - _GAP) if _is_coloured(console) else 0


def _is_coloured(console: Console) -> bool:
    colours = console.color_system in ("256", "truecolor") and not console.no_color
    return colours and not console.options.ascii_only


def _width(game: Game) -> int:
    """Returns the number of columns of the coloured board: row numbers, two columns for each point, row numbers."""
    return 3 + 2 * game.width + 2 + len(str(game.height))


def colour_board(game: Game, marks: Marks | None = None, *, compact: bool = False) -> Text:
    """Returns the position on wood, two columns per point (one if `compact`), with coordinates on all sides."""
    gap = "" if compact else " "
    letters = Text(f"   {gap}{gap.join(COLUMNS[: game.width])}\n", style="dim")
    rows = [_row(game, y, marks or Marks(), compact) for y in range(game.height)]
    letters_below = letters.copy()
    letters_below.right_crop(1)
    return Text(no_wrap=True).join([letters, *rows, letters_below])


def _row(game: Game, y: int, marks: Marks, compact: bool) -> Text:
    points = [point_at(x, y, game.width) for x in range(game.width)]
    last = game.last_point
    row = Text(no_wrap=True)
    row.append(f"{game.height - y:2} ", "dim")
    gaps = gaps_in_row(points, last, "─")
    for x, point in enumerate(points):
        if not compact:
            _append_gap(row, " " if x == 0 and gaps[0] == "─" else gaps[x])
        character, style = _point(game, point, marks, _line_character(game, x, y))
        row.append(character, style + Style(bgcolor=LAST_MOVE) if compact and point == last else style)
    if not compact:
        _append_gap(row, " " if gaps[-1] == "─" else gaps[-1])
    row.append(f" {game.height - y}\n", "dim")
    return row


def _append_gap(row: Text, gap: str) -> None:
    row.append(gap, Style(color=LAST_MOVE if gap in "()" else LINES, bgcolor=WOOD))


def _point(game: Game, point: int, marks: Marks, empty: str) -> tuple[str, Style]:
    stone = game.stone_at(point)
    if stone != EMPTY:
        return (DEAD_SHAPES if point in marks.dead else STONE_SHAPES)[stone], stone_style(stone)
    if point in marks.labels:
        rank = list(marks.labels).index(point)
        background = CANDIDATES[min(rank, len(CANDIDATES) - 1)]
        return marks.labels[point], Style(color="#000000", bgcolor=background, bold=True)
    owner = marks.owner(point, game.width)
    if owner != EMPTY:
        return TERRITORY_SHAPES[owner], stone_style(owner)
    return empty, Style(color=LINES, bgcolor=WOOD)


def stone_style(colour: int) -> Style:
    """Returns the style of a stone on wood; White's outlined shapes are drawn bold."""
    return Style(color=STONES[colour], bgcolor=WOOD, bold=colour == WHITE or None)


def _line_character(game: Game, x: int, y: int) -> str:
    if point_at(x, y, game.width) in star_points(game.width, game.height):
        return "╋"
    column = 0 if x == 0 else 2 if x == game.width - 1 else 1
    return ("┌┬┐", "└┴┘", "├┼┤")[0 if y == 0 else 1 if y == game.height - 1 else 2][column]
