"""What stands beside and below the board: the players, the candidate moves, results in words."""

from rich.style import Style
from rich.table import Table
from rich.text import Text

from ..game.coords import BLACK, PASS, WHITE, colour_name, opponent, parse_colour, point_at, vertex
from ..game.diagram import Marks
from ..game.game import Game
from ..game.rules import rules_name
from ..search.report import SearchReport
from .board import CANDIDATES, STONES, WOOD

CANDIDATES_SHOWN = 9  # each is one digit on the board
LINE_SHOWN = 6  # moves of a main line, fewer where the terminal is narrow
_COLUMNS_BEFORE_LINE = 38  # of the table, with visits in the ten thousands
RECENT_MOVES = 6
OWNED = 0.3  # a point belongs to a side from this much ownership on; what is less clear stays open


def side_lines(game: Game, names: dict[int, str]) -> list[Text]:
    """Players with their prisoners, the game's terms and its latest moves, for the place beside the board."""
    lines = [_player_line(game, colour, names[colour]) for colour in (BLACK, WHITE)]
    lines.append(Text())
    lines.append(Text(f"komi {game.komi:g}, {rules_name(game.rules) or 'other'} rules", style="dim"))
    if game.moves:
        first = max(0, len(game.moves) - RECENT_MOVES)
        recent = [vertex(move.point, game.width, game.height) for move in game.moves[first:]]
        lines.append(Text(f"moves {first + 1}-{len(game.moves)}: {' '.join(recent)}", style="dim"))
    return lines


def _player_line(game: Game, colour: int, name: str) -> Text:
    line = Text()
    line.append(" ● ", Style(color=STONES[colour], bgcolor=WOOD))
    line.append(f" {colour_name(colour)}", "bold" if game.to_move == colour else "")
    line.append(f"  {name}, {game.captures(colour)} captured")
    return line


def engine_move_line(game: Game, report: SearchReport | None) -> Text:
    """The engine's move, which is the last one of the game, with what its search says to the opponent."""
    colour, point = game.moves[-1]
    played = "passes" if point == PASS else f"plays {vertex(point, game.width, game.height)}"
    line = Text(f"{colour_name(colour)} {played}")
    if report is not None:
        line.append(f"  ({report.seconds:.1f} s, your win rate {1 - report.winrate:.0%})", "dim")
    return line


def candidate_marks(report: SearchReport) -> Marks:
    """The best moves as digits on the board; a pass has no place there."""
    best = report.moves[:CANDIDATES_SHOWN]
    return Marks(labels={move.point: str(number) for number, move in enumerate(best, 1)})


def candidate_table(report: SearchReport, width: int) -> Table:
    """The best moves, with values for the player to move and the line expected after each, for a terminal's width."""
    shown = max(0, min(LINE_SHOWN, (width - _COLUMNS_BEFORE_LINE) // len("C10 ")))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("move")
    for heading in ("win rate", "score", "visits"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("main line" if shown >= 2 else "")
    for number, move in enumerate(report.moves[:CANDIDATES_SHOWN], 1):
        background = CANDIDATES[min(number, len(CANDIDATES)) - 1]
        line = [vertex(point, report.width, report.height) for point in move.pv[:shown]]
        table.add_row(
            Text(str(number), Style(color="#000000", bgcolor=background, bold=True)),
            vertex(move.point, report.width, report.height),
            f"{move.winrate:.0%}",
            points(move.lead),
            f"{move.visits:,}",
            Text(" ".join(line), style="dim"),
        )
    return table


def territory_marks(game: Game, report: SearchReport) -> Marks:
    """Whose each point is by the report's ownership; stones on the other side's points are shown as dead."""
    assert report.ownership is not None
    black = report.ownership if report.to_move == BLACK else -report.ownership
    territory = (black > OWNED) * BLACK + (black < -OWNED) * WHITE
    stones = game.stones()
    dead = (stones != 0) & (territory != 0) & (stones != territory)
    dead_points = [point_at(int(x), int(y), game.width) for y, x in zip(*dead.nonzero(), strict=True)]
    return Marks(dead=frozenset(dead_points), territory=territory.astype("int8"))


def points(lead: float) -> str:
    """A lead with its sign: "+1.5", "-0.5", "0.0"."""
    return f"{lead:+.1f}" if abs(lead) >= 0.05 else "0.0"


def lead_in_words(report: SearchReport) -> str:
    """Who is ahead in the report."""
    if abs(report.lead) < 0.05:
        return "the game is even"
    ahead = report.to_move if report.lead > 0 else opponent(report.to_move)
    return f"{colour_name(ahead)} is ahead by about {abs(report.lead):.1f} points"


def result_in_words(result: str) -> str:
    """SGF's result ("W+3.5", "B+R", "0") as a sentence."""
    if result == "0":
        return "a draw"
    winner, _, margin = result.partition("+")
    how = "by resignation" if margin == "R" else f"by {margin} point{'' if margin in ('0.5', '1') else 's'}"
    return f"{colour_name(parse_colour(winner))} wins {how}"
