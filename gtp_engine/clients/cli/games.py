"""`gtp_engine games`: the user's games, and the database of what was found out about them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import UserError
from ...base.languages.texts import texts
from ...base.messages import plural, printable
from ...base.settings import like, setting
from ...table.database import Database
from .command import command
from .first_game import PlayersOptions
from .options import EXISTING_FILE, FILE

if TYPE_CHECKING:
    from ...table.game_index import UserGame


@dataclass(frozen=True)
class GamesOptions:
    """What to do.

    Attributes:
        export: Write results, problems and reviews to a file for another computer.
        absorb: Add what is in such a file.
        force: Overwrite an existing file.
    """

    sgf_dir: Path | None = like(PlayersOptions, "sgf_dir")
    export: Path | None = setting(None, accepts=FILE, metavar="FILE")
    absorb: Path | None = setting(None, accepts=EXISTING_FILE, metavar="FILE", flags=["--import"])
    force: bool = setting(False)


@command(groups={"options": GamesOptions})
def games(options: GamesOptions) -> None:
    """List the games that you have played, and those that were reviewed in the browser.

    The figures are those of My games in the browser: your rank by your results, and what your mistakes in reviewed
    games have cost by phase of the game and by what they were about. A file for another computer has ratings, problems
    and reviews; copy the folder of saved games too.

    \b
    Examples:
      gtp_engine games                     the list, the latest first
      gtp_engine games --export mine.db    write a file for another computer
      gtp_engine games --import mine.db    read it there
    """
    database = Database()
    if options.absorb is not None:
        database.absorb(options.absorb)
    if options.export is not None:
        try:
            database.export(options.export, overwrite=options.force)
        except FileExistsError:
            raise UserError(f"{options.export} already exists; add --force to overwrite it") from None
    elif options.absorb is None:
        _show(database, options)
    if database.notice:
        raise UserError(database.notice)


def _show(database: Database, options: GamesOptions) -> None:
    from rich.console import Console
    from rich.table import Table

    from ...base.folders import games_dir
    from ...study.stored_reviews import kept_reviews
    from ...table.game_index import user_games

    console, found = Console(), user_games(database, options.sgf_dir or games_dir(), kept_reviews(database))
    if not found:
        console.print("you have not played or reviewed a game yet")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("day", "board", "players", "moves", "result", "review", "file"):
        table.add_column(heading, justify="right" if heading == "moves" else "left", overflow="fold")
    for game in found:
        table.add_row(*map(printable, _row(game)))
    console.print(table)
    for line in _figures(database):
        console.print(line)


def _row(game: "UserGame") -> tuple[str, ...]:
    from ...engine.ranks import as_rank, engine_at
    from ...go.sgf import shown_result

    facts = game.facts
    people = " - ".join(name or "?" for name in facts.players)
    players = texts().say(engine_at(as_rank(facts.opponent))) if facts.own else people
    result = "unfinished" if game.name and facts.is_unfinished else shown_result(facts.result)
    return facts.day[:10], f"{facts.width}x{facts.height}", players, str(facts.moves), result, game.review, game.name


def _figures(database: Database) -> list[str]:
    """Returns the rank by the results, and what mistakes have cost, in lines."""
    from ...study.losses import find_losses
    from ...table.player_rating import KeptRating

    rating, losses, text, lines = KeptRating(database).rating, find_losses(database), texts(), [""]
    if rating is not None and rating.games:
        lines.append(rating.in_words())
    if losses.games:
        lines.append(f"points lost by mistakes in {plural(losses.games, 'reviewed game')}: {losses.points:.1f}")
    if losses.phases:
        lines.append("by phase, from 13x13 on:")
        lines += [f"  {text(name).lower():30} {lost:7.1f}" for _, name, lost in losses.phases]
    if kinds := losses.kinds:
        lines.append("by the kind of mistake, where the reason is known:")
        lines += [f"  {text(f'mine.kind-{kind}'):30} {lost:7.1f}  {plural(n, 'mistake')}" for kind, lost, n in kinds]
    return lines
