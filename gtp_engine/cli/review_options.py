"""The options of `gtp_engine review`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.errors import UserError
from .command import options
from .game_files import RECORDS, STANDARD
from .name_types import RulesName
from .option_types import Komi, MoveRange
from .outputs import FORCE, check_outputs, output_option
from .shared_options import LANGUAGE

if TYPE_CHECKING:
    from ..analysis.mistakes import Unit
    from ..game.rules import Rules
    from ..sgf import GameRecord


@dataclass(frozen=True)
class ReviewOptions:
    """The options as typed; None if an option without a default is not given.

    Attributes:
        files: Game records, and folders of them.
        sgf, html, json, csv, plot: Files to write.
        sgf_out: The former name of `sgf`.
        language: The language of the page.
        force: Whether existing files are overwritten.
        all_moves: Whether every move is listed, and commented on in the SGF.
        by: What mistakes are sorted by.
        player: The player whose moves are judged: a colour or a name.
        numbers: The first and the last move to review; None as the last for the end of the game.
        komi: Overrides the records' komi.
        rules: Override the records' rules.
    """

    files: tuple[Path, ...]
    sgf: Path | None
    sgf_out: Path | None
    html: Path | None
    json: Path | None
    csv: Path | None
    plot: Path | None
    language: str
    force: bool
    all_moves: bool
    by: "Unit"
    player: str | None
    numbers: tuple[int, int | None] | None
    komi: float | None
    rules: "Rules | None"

    @property
    def sgf_file(self) -> Path | None:
        """The SGF file to write."""
        return self.sgf or self.sgf_out

    def outputs(self, games: int) -> list[Path]:
        """Returns all files to write for this many games, `STANDARD` for standard output."""
        texts = (self.sgf_file, self.html, self.json, self.csv)
        return [path for path in texts if path is not None] + self.pictures(games)

    def check(self, games: int) -> None:
        """Raises an error before the work begins if a file could not be saved after it.

        Args:
            games: The number of games to review.
        """
        if self.plot is not None:
            from ..analysis.curve import check_picture

            check_picture(self.plot)
        outputs = self.outputs(games)
        files = [path.resolve() for path in outputs]  # also spelt differently, or through links
        for path, file in zip(outputs, files, strict=True):
            if files.count(file) > 1:
                place = "standard output" if path == STANDARD else path
                raise click.UsageError(f"only one output can go to {place}")
        check_outputs(outputs, self.files, force=self.force)

    def pictures(self, games: int) -> list[Path]:
        """Returns the pictures to draw: curve.png for one game, curve-1.png, curve-2.png and so on for several."""
        if self.plot is None or games == 1:
            return [self.plot] if self.plot else []
        return [self.plot.with_stem(f"{self.plot.stem}-{number}") for number in range(1, games + 1)]

    def players_of(self, records: "Sequence[GameRecord]") -> "Callable[[GameRecord], int | None]":
        """Returns a function for the colour of --player in each of the games; None if both players' moves are judged.

        It raises UserError if neither player of a game is meant, or both may be.
        """
        from ..analysis.player_names import may_be_part, player_colour

        player = self.player
        if player is None:
            return lambda _: None
        return partial(player_colour, player=player, parts=may_be_part(records, player))

    def numbers_of(self, record: "GameRecord") -> range:
        """Returns the numbers of the moves to review.

        Raises:
            UserError: The game has no moves, or ends before the first of them.
        """
        count = len(record.moves)
        if not count:
            raise UserError(f"{record.source}: there are no moves to review")
        first, last = self.numbers or (1, None)
        if first > count:
            raise UserError(f"{record.source}: there is no move {first}, the game has {count}")
        return range(first, min(count, last or count) + 1)


_OPTIONS = (
    RECORDS,
    "Review",
    click.option("--player", metavar="WHO", help="Judge only the moves of black, of white, or of a player by name."),
    click.option(
        "--moves", "numbers", type=MoveRange(), metavar="FROM-TO", help="Review only these moves: 20-80, 20- or 80."
    ),
    click.option(
        "--by", type=click.Choice(("points", "winrate")), default="points", help="Rank mistakes by points or win rate."
    ),
    click.option(
        "--komi", type=Komi(), show_default="the record's; 0 if it has none", help="Override the komi in the record."
    ),
    click.option(
        "--rules", type=RulesName(), show_default="the record's; chinese if it has none", help="Override the rules."
    ),
    "Output",
    click.option(
        "--all/--no-all",
        "all_moves",
        default=False,
        help="List every move after the summary; comment on all in the SGF.",
    ),
    output_option(
        "--sgf",
        text="Write an annotated SGF with better lines as variations, but without the record's variations and marks.",
        allow_dash=True,
    ),
    click.option("--sgf-out", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), hidden=True),
    output_option("--html", text="Write a page for the browser, one file for all games.", allow_dash=True),
    output_option("--json", text="Write all facts of the review as JSON.", allow_dash=True),
    output_option("--csv", text="Write a table of the moves as CSV.", allow_dash=True),
    output_option("--plot", text="Draw the curves (.png, .svg, .pdf, .jpg); NAME-1.png and so on for several games."),
    LANGUAGE,
    FORCE,
)


def review_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command; it receives them as the keywords of ReviewOptions."""
    return options(*_OPTIONS)(function)
