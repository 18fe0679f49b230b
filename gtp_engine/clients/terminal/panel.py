"""The text next to and below the board: the players, the candidate moves, results in words."""

from rich.style import Style
from rich.table import Table
from rich.text import Text

from ...go.coords import BLACK, PASS, WHITE, colour_letter, colour_name, opponent, parse_colour, point_at
from ...go.diagram import Marks
from ...go.game import Game
from ...go.rules import rules_name
from ...search.report import SearchReport
from .board import CANDIDATES, STONE_SHAPES, stone_style

CANDIDATES_SHOWN = 9  # each is one digit on the board
LINE_SHOWN = 6  # moves of a main line; fewer if the terminal is narrow
HINT_LINE_SHOWN = 3
HINT_MARK = "*"
_COLUMNS_BEFORE_LINE = 38  # of the table, with visits in the ten thousands
RECENT_MOVES = 6
OWNED = 0.3  # minimum ownership for a point to count as territory; other points are left open
CLOSE = 1.0  # a lead of fewer points is not worth naming a leader, and may contradict the win rate


def side_lines(game: Game, names: dict[int, str]) -> list[Text]:
    """Returns the lines next to the board: the players, prisoners, komi and rules, the latest moves."""
    lines = [_player_line(game, colour, names[colour]) for colour in (BLACK, WHITE)]
    lines.append(Text())
    lines.append(Text(f"captured by black {game.captures(BLACK)}, by white {game.captures(WHITE)}"))
    lines.append(Text(f"komi {game.komi:g}, {rules_name(game.rules) or 'other'} rules", style="dim"))
    if game.moves:
        first = max(0, len(game.moves) - RECENT_MOVES)
        recent = [game.vertex(move.point) for move in game.moves[first:]]
        numbers = f"moves {first + 1}-{len(game.moves)}" if len(game.moves) > 1 else "move 1"
        lines.append(Text(f"{numbers}: {' '.join(recent)}", style="dim"))
    return lines


def _player_line(game: Game, colour: int, name: str) -> Text:
    line = Text()
    line.append(f" {STONE_SHAPES[colour]} ", stone_style(colour))
    line.append(f" {colour_name(colour)}", "bold" if game.to_move == colour else "")
    line.append(f"  {name}")
    return line


def engine_move_line(game: Game, report: SearchReport | None, shown: str = "winrate") -> Text:
    """Returns a line about the engine's move, the last one of the game.

    Args:
        game: The game after the move.
        report: The search that chose it.
        shown: One of `words.SHOWN_VALUES`. The win rate is the opponent's.
    """
    colour, point = game.moves[-1]
    line = Text(f"{colour_name(colour)} {'passes' if point == PASS else f'plays {game.vertex(point)}'}")
    if report is not None and shown != "nothing":
        value = f"your win rate {1 - report.winrate:.0%}" if shown == "winrate" else lead_in_words(report)
        line.append(f"  ({report.seconds:.1f} s, {value})", "dim")
    return line


def hint_marks(report: SearchReport) -> Marks:
    """Returns a mark at the best move of a report with moves; none for a pass."""
    best = report.moves[0].point
    return Marks(labels={} if best == PASS else {best: HINT_MARK})


def hint_line(report: SearchReport, shown: str = "winrate") -> str:
    """Returns a line about the best move of a report with moves: its values and the moves to be expected after it.

    Args:
        report: The search of the position.
        shown: One of `words.SHOWN_VALUES`. The win rate is that of the player to move.
    """
    best = report.moves[0]
    parts = [f"hint: {report.vertex(best.point)}{'' if best.point == PASS else f' (marked {HINT_MARK})'}"]
    if shown == "winrate":
        parts.append(f"your win rate {best.winrate:.0%}")
    if shown != "nothing":
        parts.append(lead_in_words(report))
    if len(best.pv) > 1:
        parts.append(f"then {' '.join(report.vertex(point) for point in best.pv[1:HINT_LINE_SHOWN])}")
    return "; ".join(parts)


def candidate_marks(report: SearchReport) -> Marks:
    """Returns marks that show the best moves as digits on the board, except for a pass."""
    best = report.moves[:CANDIDATES_SHOWN]
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
    for number, move in enumerate(report.moves[:CANDIDATES_SHOWN], 1):
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
    assert report.ownership is not None
    black = report.ownership if report.to_move == BLACK else -report.ownership
    territory = (black > OWNED) * BLACK + (black < -OWNED) * WHITE
    stones = game.stones()
    dead = (stones != 0) & (territory != 0) & (stones != territory)
    dead_points = [point_at(int(x), int(y), game.width) for y, x in zip(*dead.nonzero(), strict=True)]
    return Marks(dead=frozenset(dead_points), territory=territory.astype("int8"))


def points(lead: float) -> str:
    """Returns a lead with its sign: "+1.5", "-0.5", "0.0"."""
    return f"{lead:+.1f}" if abs(lead) >= 0.05 else "0.0"


def lead_in_words(report: SearchReport) -> str:
    """Returns who leads according to the report, with the komi counted."""
    leader = report.to_move if report.lead > 0 else opponent(report.to_move)
    if abs(report.lead) < CLOSE:
        margin = f"{abs(report.lead):.1f}"
        return "the game is even" if margin == "0.0" else f"the game is about even ({colour_letter(leader)}+{margin})"
    return f"{colour_name(leader)} leads by about {abs(report.lead):.1f} points"


def result_in_words(result: str) -> str:
    """Returns SGF's result ("W+3.5", "B+R", "0") as a sentence."""
    if result == "0":
        return "a draw"
    winner, _, margin = result.partition("+")
    points = f"by {margin} point{'' if margin in ('0.5', '1') else 's'}"
    how = {"R": "by resignation", "T": "on time"}.get(margin, points)
    return f"{colour_name(parse_colour(winner))} wins {how}"
