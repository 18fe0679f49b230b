"""The board drawn in colour, and plain where the terminal cannot."""

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ..game.coords import BLACK, COLUMNS, EMPTY, WHITE, point_at
from ..game.diagram import Marks, board_text, gaps_in_row, last_point, star_points, territory_owner
from ..game.game import Game

# Chosen so that the nearest of the 256 colours keep the contrast: 179 the wood, 94 the lines, 16 and 231 the stones.
WOOD = "#d7af5f"
LINES = "#875f00"
STONES = {BLACK: "#000000", WHITE: "#ffffff"}
LAST_MOVE = "#d70000"
# Candidate moves from the best to the last, as in the usual analysis programs: blue is best, then green to yellow.
CANDIDATES = ("#5fd7ff", "#87d75f", "#afd75f", "#d7d75f", "#ffd75f")

_SIDE_WIDTH = 32  # columns that the lines beside the board need at least


def board_view(
    game: Game, console: Console, marks: Marks | None = None, side: list[Text] | None = None
) -> RenderableType:
    """The position as large as the console allows, with the lines of `side` beside it or below it.

    Without 256 colours or without Unicode it is the plain text of `game.diagram`.
    """
    wide = console.width >= 2 * game.width + 6
    coloured = console.color_system in ("256", "truecolor") and not console.no_color
    if not coloured or console.options.ascii_only:
        return Text(board_text(game, marks, compact=not wide), no_wrap=True, overflow="ignore")
    board = colour_board(game, marks, compact=not wide)
    if not side:
        return board
    if console.width < 2 * game.width + 8 + _SIDE_WIDTH:
        return Group(board, *side)
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_row(board, Text("\n").join([Text(), *side]))
    return grid


def colour_board(game: Game, marks: Marks | None = None, *, compact: bool = False) -> Text:
    """The position on wood, two columns a point (one if `compact`), coordinates on all sides."""
    gap = "" if compact else " "
    letters = Text(f"   {gap}{gap.join(COLUMNS[: game.width])}\n", style="dim")
    rows = [_row(game, y, marks or Marks(), compact) for y in range(game.height)]
    letters_below = letters.copy()
    letters_below.right_crop(1)
    return Text(no_wrap=True).join([letters, *rows, letters_below])


def _row(game: Game, y: int, marks: Marks, compact: bool) -> Text:
    points = [point_at(x, y, game.width) for x in range(game.width)]
    last = last_point(game)
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
        return "x" if point in marks.dead else "●", Style(color=STONES[stone], bgcolor=WOOD)
    if point in marks.labels:
        rank = list(marks.labels).index(point)
        background = CANDIDATES[min(rank, len(CANDIDATES) - 1)]
        return marks.labels[point], Style(color="#000000", bgcolor=background, bold=True)
    owner = territory_owner(game, point, marks)
    if owner != EMPTY:
        return "■", Style(color=STONES[owner], bgcolor=WOOD)
    return empty, Style(color=LINES, bgcolor=WOOD)


def _line_character(game: Game, x: int, y: int) -> str:
    if point_at(x, y, game.width) in star_points(game.width, game.height):
        return "╋"
    column = 0 if x == 0 else 2 if x == game.width - 1 else 1
    return ("┌┬┐", "└┴┘", "├┼┤")[0 if y == 0 else 1 if y == game.height - 1 else 2][column]
