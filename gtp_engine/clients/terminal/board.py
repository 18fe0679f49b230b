"""What the player sees: the board in colour or as plain text, and the words and tables next to and below it."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ...go.coords import (
    BLACK,
    COLUMNS,
    EMPTY,
    PASS,
    WHITE,
    colour_letter,
    colour_name,
    opponent,
    parse_colour,
    point_at,
)
from ...go.drawing import DEAD_STONES, TERRITORY, Marks, board_text, gaps_in_row
from ...go.game import Game
from ...go.handicap import star_points
from ...go.rules import terms_text
from ...search.report import SearchReport
from ...study.move_review import MoveReview

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

CANDIDATES_SHOWN = 9  # each is one digit on the board
LINE_SHOWN = 6  # moves of a main line; fewer if the terminal is narrow
HINT_LINE_SHOWN = 3
HINT_MARK, MISTAKE_MARK = "*", "?"
_COLUMNS_BEFORE_LINE = 38  # of the table, with visits in the ten thousands
RECENT_MOVES = 6
OWNED = 0.3  # minimum ownership for a point to count as territory; other points are left open
CLOSE = 1.0  # a lead of fewer points is not worth naming a leader, and may contradict the win rate


def board_view(
    game: Game, console: Console, marks: Marks | None = None, side: Sequence[RenderableType] = ()
) -> RenderableType:
    """Returns the position as large as the console allows, with the lines of `side` next to it or below it.

    The board is never cut off to make room for the lines, which wrap. Without 256 colours or Unicode it is the plain
    text of `go.drawing.board_text`, without the lines.
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


# Next to the board and below it.


def side_lines(game: Game, names: dict[int, str], played: int) -> list[Text]:
    """Returns the lines next to the board: the players, prisoners, komi and rules, the latest moves.

    `played` is the number of the last move, which counts those before stones were set up too.
    """
    lines = []
    for colour in (BLACK, WHITE):
        is_next = "bold" if game.to_move == colour else ""
        line = Text.assemble((f" {STONE_SHAPES[colour]} ", stone_style(colour)), (f" {colour_name(colour)}", is_next))
        lines.append(line.append(f"  {names[colour]}"))
    lines.append(Text())
    lines.append(Text(f"captured by black {game.captures(BLACK)}, by white {game.captures(WHITE)}"))
    lines.append(Text(terms_text(game.rules, game.komi), style="dim"))
    if game.moves:
        first = max(0, len(game.moves) - RECENT_MOVES)
        recent = [game.vertex(move.point) for move in game.moves[first:]]
        numbers = f"moves {played - len(recent) + 1}-{played}" if len(recent) > 1 else f"move {played}"
        lines.append(Text(f"{numbers}: {' '.join(recent)}", style="dim"))
    return lines


def engine_move_line(game: Game, report: SearchReport | None, shown: str = "winrate") -> Text:
    """Returns a line about the engine's move, the last one of the game; the win rate is the opponent's.

    `report` is that of the search that chose the move. If another one was played, it does not value this position.
    `shown` is one of `words.SHOWN_VALUES`.
    """
    colour, point = game.moves[-1]
    advice = "" if game.is_over else ": pass too to end the game and count it"
    done = f"passes{advice}" if point == PASS else f"plays {game.vertex(point)}"
    line = Text(f"{colour_name(colour)} {done}")
    found = None if report is None else report.move_at(point)
    if report is not None and found is not None and shown != "nothing":
        is_rate = shown == "winrate"
        value = f"your win rate {1 - found.winrate:.0%}" if is_rate else lead_in_words(colour, found.lead)
        line.append(f"  ({report.seconds:.1f} s, {value})", "dim")
    return line


def hint_marks(report: SearchReport) -> Marks:
    """Returns a mark at the best move of a report with moves; none for a pass."""
    best = report.moves[0].point
    return Marks(labels={} if best == PASS else {best: HINT_MARK})


def mistake_marks(worst: MoveReview) -> Marks:
    """Returns marks at a mistake and at a better move, in the position before it; none for a pass."""
    marks = {worst.best: HINT_MARK, worst.move.point: MISTAKE_MARK}
    return Marks(labels={point: mark for point, mark in marks.items() if point != PASS})


def mistake_legend(marks: Marks) -> str:
    """Returns what the marks of `mistake_marks` mean."""
    meanings = {MISTAKE_MARK: "the move played", HINT_MARK: "a better move"}
    return ", ".join(f"{mark}: {meaning}" for mark, meaning in meanings.items() if mark in marks.labels.values())


def hint_line(report: SearchReport, shown: str = "winrate") -> str:
    """Returns a line about the best move of a report with moves: its values and the moves to be expected after it.

    `shown` is one of `words.SHOWN_VALUES`; the win rate is that of the player to move.
    """
    best = report.moves[0]
    parts = [f"hint: {report.vertex(best.point)}{'' if best.point == PASS else f' (marked {HINT_MARK})'}"]
    if shown == "winrate":
        parts.append(f"your win rate {best.winrate:.0%}")
    if shown != "nothing":
        parts.append(lead_in_words(report.to_move, best.lead))
    if len(best.pv) > 1:
        parts.append(f"then {' '.join(report.vertex(point) for point in best.pv[1:HINT_LINE_SHOWN])}")
    return "; ".join(parts)


def candidate_marks(report: SearchReport) -> Marks:
    """Returns marks that show the best moves as digits on the board, except for a pass."""
    best = report.searched[:CANDIDATES_SHOWN]
    return Marks(labels={move.point: str(number) for number, move in enumerate(best, 1)})


def candidate_table(report: SearchReport, width: int) -> Table:
    """Returns a table of the best moves, with values for the player to move and main lines, for a terminal's width."""
    shown = max(0, min(LINE_SHOWN, (width - _COLUMNS_BEFORE_LINE) // len("C10 ")))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("move")
    for heading in ("win rate", "score", "visits"):
        table.add_column(heading, justify="right", no_wrap=True)
    if shown >= 2:
        table.add_column("main line")
    for number, move in enumerate(report.searched[:CANDIDATES_SHOWN], 1):
        background = CANDIDATES[min(number, len(CANDIDATES)) - 1]
        cells: list[str | Text] = [
            Text(str(number), Style(color="#000000", bgcolor=background, bold=True)),
            report.vertex(move.point),
            f"{move.winrate:.0%}",
            points(move.lead),
            f"{move.visits:,}",
        ]
        if shown >= 2:
            cells.append(Text(" ".join(report.vertex(point) for point in move.pv[:shown]), style="dim"))
        table.add_row(*cells)
    return table


def main_line(report: SearchReport) -> str:
    """Returns the vertices of the main line of the best move; "" if no move was searched."""
    line = report.moves[0].pv[:LINE_SHOWN] if report.moves else ()
    return " ".join(report.vertex(point) for point in line)


def territory_marks(game: Game, report: SearchReport) -> Marks:
    """Returns marks of territory by the report's ownership; stones in the opponent's territory are marked dead."""
    black = report.ownership_of(BLACK)
    territory = (black > OWNED) * BLACK + (black < -OWNED) * WHITE
    stones = game.stones()
    dead = (stones != 0) & (territory != 0) & (stones != territory)
    dead_points = [point_at(int(x), int(y), game.width) for y, x in zip(*dead.nonzero(), strict=True)]
    return Marks(dead=frozenset(dead_points), territory=territory.astype("int8"))


def points(lead: float) -> str:
    """Returns a lead with its sign: "+1.5", "-0.5", "0.0"."""
    return f"{lead:+.1f}" if abs(lead) >= 0.05 else "0.0"


def lead_in_words(colour: int, lead: float) -> str:
    """Returns who leads if a player leads by so many points, with the komi counted."""
    leader = colour if lead > 0 else opponent(colour)
    if abs(lead) < CLOSE:
        margin = f"{abs(lead):.1f}"
        return "the game is even" if margin == "0.0" else f"the game is about even ({colour_letter(leader)}+{margin})"
    return f"{colour_name(leader)} leads by about {abs(lead):.1f} points"


def result_in_words(result: str) -> str:
    """Returns SGF's result ("W+3.5", "B+R", "0") as a sentence."""
    if result == "0":
        return "a draw"
    winner, _, margin = result.partition("+")
    points = f"by {margin} point{'' if margin in ('0.5', '1') else 's'}"
    how = {"R": "by resignation", "T": "on time"}.get(margin, points)
    return f"{colour_name(parse_colour(winner))} wins {how}"
