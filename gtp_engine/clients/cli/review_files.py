"""The files of `gtp_engine review`: the game records that it reads, and what it writes about them."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.errors import UserError, error_text
from ...base.files import files_with
from ...base.languages.texts import DEFAULT, LANGUAGES
from ...base.messages import plural, printable
from ...base.settings import setting
from .options import FILE_OR_STANDARD
from .outputs import STANDARD, Outputs

if TYPE_CHECKING:
    from ...go.sgf import GameRecord
    from ...study.game_review import GameReview

EXISTING_OR_STANDARD = click.Path(exists=True, allow_dash=True, path_type=Path)
_MOST_ERRORS = 10  # that are shown of one file
_SHOWN_GAMES = 100  # between two reports while a file is read


# The records.


def read_records(files: Sequence[Path]) -> "tuple[list[GameRecord], list[str]]":
    """Returns the games of all files, and the errors of those that cannot be read."""
    from rich.console import Console
    from rich.text import Text

    from ...go.sgf import RECORD_SUFFIXES

    records: list[GameRecord] = []
    errors: list[str] = []
    with Console(stderr=True).status("reading the games") as status:  # shown on terminals only
        for place in files:
            try:
                found = _records_in(place)
            except OSError as error:
                errors.append(error_text(error))
                continue
            if not found:
                errors.append(f"{place}: there are no game records ({', '.join(RECORD_SUFFIXES)}) in this folder")
            for file in found:
                try:
                    records += _read_games(file, errors, lambda text: status.update(Text(text)))
                except (UserError, OSError) as error:
                    errors.append(error_text(error))
    return records, errors


def _records_in(place: Path) -> list[Path]:
    """Returns the records in a folder, by name; a file as it is."""
    if not place.is_dir():
        return [place]
    from ...go.sgf import RECORD_SUFFIXES

    return files_with(RECORD_SUFFIXES, place)


def _read_games(file: Path, errors: list[str], show: Callable[[str], None]) -> "list[GameRecord]":
    """Returns the games of a file; the errors of single games, if it has several, are added to `errors`.

    How many have been read is shown. Raises SgfError if the only game cannot be
    read, and OSError if the file cannot.
    """
    from ...go.sgf import LINES_SUFFIX, read_data, read_sgf, read_sgf_games

    # The outputs, in UTF-8, contain the name, which may have bytes of another encoding.
    name = "standard input" if file == STANDARD else str(file).encode(errors="replace").decode()
    data = sys.stdin.buffer.read() if file == STANDARD else read_data(file)
    found: list[str] = []
    records: list[GameRecord] = []
    for record in read_sgf_games(data, name=name, on_error=lambda error: found.append(str(error))):
        records.append(record)
        if len(records) % _SHOWN_GAMES == 0:
            show(f"reading {printable(name)}: {len(records):,} games so far")
    if name.lower().endswith(LINES_SUFFIX) and not records and len(found) > 1:
        raise UserError(f"{name}: expected one game per line; if a game has several lines, rename the file to .sgf")
    if len(records) + len(found) > 1:
        errors += found[:_MOST_ERRORS]
        if len(found) > _MOST_ERRORS:
            errors.append(f"{name}: {plural(len(found) - _MOST_ERRORS, 'more game')} cannot be read")
        return records
    return [read_sgf(data, name=name)]  # named without the number of the game


# The outputs.


@dataclass(frozen=True)
class OutputOptions(Outputs):
    """What is written about the reviews; None for a file that is not wanted.

    Attributes:
        all_moves: List every move after the summary; comment on all in the SGF.
        sgf: Write an annotated SGF with better lines as variations, but without the record's variations and marks.
        html: Write a page for the browser, one file for all games.
        json: Write all facts of the review as JSON.
        csv: Write a table of the moves as CSV.
        plot: Draw the curves as SVG, one file for all games.
        language: Language of the page (--html), by its code.
        force: Overwrite existing files.
    """

    kinds = ("sgf", "html", "json", "csv", "plot")
    all_moves: bool = setting(False, flags=["--all/--no-all"], heading="Output")
    sgf: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    html: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    json: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    csv: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    plot: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    language: str = setting(DEFAULT, accepts=tuple(LANGUAGES), common=True)
    force: bool = setting(False)

    def text(self, kind: str, found: "Sequence[GameReview]") -> str:
        match kind:
            case "sgf":
                from ...study.review_sgf import annotated

                return "".join(annotated(review, comment_all=self.all_moves).to_sgf() for review in found)
            case "html":
                from ...study.page.page import review_page

                return review_page(found, self.language)
            case "json":
                from ...study.review_data import to_json

                return to_json(found)
            case "plot":
                from ...study.page.curves import picture

                return picture(found)
        from ...study.review_data import to_csv

        return to_csv(found)

    def check_places(self, places: Sequence[Path]) -> None:
        """Raises an error before the work begins if a file could not be saved after it, or is one of the records."""
        if self.plot is not None and self.plot != STANDARD and self.plot.suffix.lower() != ".svg":
            raise UserError(f"{self.plot}: the curves are drawn as SVG, which browsers show; the name must end in .svg")
        self.check([file for place in places for file in _records_in(place)], force=self.force)
