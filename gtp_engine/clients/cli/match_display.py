"""What `gtp_engine match` shows: a table where the screen is redrawn, elsewhere one line per game."""

from pathlib import Path

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from ...arena.elo import elo_difference, elo_interval, score_interval
from ...arena.network_match import Progress
from ...arena.results import GameResult, MatchResult
from ...base.messages import plural, printable
from ...go.sgf import shown_result

TABLE_WIDTH = 72  # columns; in a narrower table the engines' names would have one letter per line


class MatchDisplay:
    """The state of the match; a context manager, so that the terminal is left as it was."""

    def __init__(self, folder: Path) -> None:
        self.result: MatchResult | None = None  # so far; None before the first game has ended
        self._folder = folder
        self._any_played = False
        self._under_way = ""
        self._console = Console(highlight=False)
        # Where the cursor cannot move, as in a pipe, rich's `Live` shows nothing before it ends.
        can_redraw = self._console.is_terminal and not self._console.is_dumb_terminal
        self._live = Live(console=self._console, auto_refresh=False) if can_redraw else None

    def __enter__(self) -> "MatchDisplay":
        if self._live:
            self._live.start()
            self._live.update("starting ...", refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._under_way = ""
            self._draw()
            self._live.stop()

    def on_game(self, result: MatchResult, game: GameResult | None = None) -> None:
        """Shows the games so far; beside the table, the last one gets a line only if something went wrong in it."""
        self.result = result
        self._any_played = self._any_played or game is not None
        if game and (game.notes or not self._live):
            self._console.print(game_line(game), markup=False, soft_wrap=True)
        self._draw()

    def on_progress(self, progress: Progress) -> None:
        """Shows how far the games under way are."""
        rate = progress.positions / max(progress.seconds, 1e-9)
        length = progress.moves / max(1, progress.games)
        games = plural(progress.games, "game")
        self._under_way = f"{games} under way, {length:.0f} moves on average; {rate:,.0f} positions/s"
        self._draw()

    def show_end(self) -> None:
        """Shows the whole match and its folder, after the display has been closed."""
        self.show_summary()
        if self._any_played or not self.result:
            click.echo(f"games and results: {self._folder}")
        else:  # the players may have changed behind the same command lines
            games = plural(len(self.result.games), "game")
            click.echo(f"nothing was played: the results are those of {games} already in {self._folder}")

    def show_summary(self) -> None:
        """Prints the summary, unless the table shows it already."""
        if self.result and not self._live:
            click.echo(summary(self.result))

    def _draw(self) -> None:
        if self._live:
            status = _status(self.result, self._console.width) if self.result else ""
            self._live.update(Group(status, self._under_way) if self._under_way else status, refresh=True)


def _status(result: MatchResult, width: int) -> Group:
    """Returns the table and the summary; only the summary if the terminal is too narrow for the table."""
    if width < TABLE_WIDTH:
        return Group(summary(result))
    table = Table()
    table.add_column("engine", overflow="fold")
    is_timed = bool(result.games) and all(game.seconds for game in result.games)
    titles = ("wins", "as black", "as white", "draws", "faults")
    for title in (*titles, "seconds per game") if is_timed else titles:
        table.add_column(title, justify="right")
    same_name = result.name("A") == result.name("B")
    for engine, command in result.commands.items():
        name = result.name(engine)
        won = [game for game in result.games if game.winner == engine]
        black = [game for game in result.games if game.black == engine]
        seconds = sum(game.seconds.get(engine, 0.0) for game in result.games) / max(1, len(result.games))
        as_black = sum(game.black == engine for game in won)
        table.add_row(
            printable(f"{engine}: {name}" + (f"\n{command}" if same_name and command != name else "")),
            str(len(won)),
            f"{as_black} of {len(black)}",
            f"{len(won) - as_black} of {len(result.games) - len(black)}",
            str(result.tally.draws),
            str(result.faults(engine)),
            *([f"{seconds:.1f}"] if is_timed else []),
        )
    return Group(table, summary(result))


def game_line(game: GameResult) -> str:
    """Returns one game as one line, with what went wrong."""
    black, white = (f"{game.names[engine]} ({engine})" for engine in (game.black, game.white))
    notes = "".join(f"; {note}" for note in game.notes)
    return printable(f"game {game.number + 1}: {black} - {white}: {shown_result(game.result)}, {game.reason}{notes}")


def summary(result: MatchResult) -> str:
    """Returns score, Elo and the sequential test from engine A's view, in one or two lines."""
    tally = result.tally
    low, high = (100 * end for end in score_interval(tally))
    elo_low, elo_high = elo_interval(tally)
    text = (
        f"{tally.games} of {plural(result.planned, 'game')}: "
        f"A won {tally.wins}, lost {tally.losses}, drew {tally.draws}; "
        f"score {tally.score:.1%} ({low:.1f} to {high:.1f}), "
        f"Elo {elo_difference(tally.score):+.0f} ({elo_low:+.0f} to {elo_high:+.0f})"
    )
    faults = {engine: result.faults(engine) for engine in result.commands}
    if any(faults.values()):
        text += "; lost by faults: " + ", ".join(f"{engine} {count}" for engine, count in faults.items())
    if result.broken_off:
        text += f"; broken off: {result.broken_off}"
    if result.sprt:
        lower, upper = result.sprt.bounds
        accepted = {"H0": f"Elo {result.sprt.elo0:g} accepted", "H1": f"Elo {result.sprt.elo1:g} accepted"}
        verdict = accepted.get(result.verdict or "", "undecided")
        text += f"\nsequential test: {verdict}, {result.sprt.ratio(tally):+.2f} between {lower:+.2f} and {upper:+.2f}"
    return text
