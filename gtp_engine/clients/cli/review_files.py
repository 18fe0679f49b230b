"""The files of `gtp_engine review`: the game records that it reads, and what it writes about them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.errors import UserError, error_text
from ...base.files import files_with, write_text
from ...base.messages import plural
from .outputs import STANDARD, check_outputs, report_written

if TYPE_CHECKING:
    from ...go.sgf import GameRecord
    from ...study.game_review import GameReview
    from .review import ReviewOptions

_MOST_ERRORS = 10  # that are shown of one file


# The records.


def read_records(files: Sequence[Path]) -> "tuple[list[GameRecord], list[str]]":
    """Returns the games of all files, and the errors of those that cannot be read."""
    from rich.console import Console

    from ...go.sgf import RECORD_SUFFIXES

    records: list[GameRecord] = []
    errors: list[str] = []
    with Console(stderr=True).status("reading the games"):  # shown on terminals only
        for place in files:
            try:
                found = _records_in(place)
            except OSError as error:
                errors.append(error_text(error))
                continue
            if not found:
                errors.append(f"{place}: there are no {' or '.join(RECORD_SUFFIXES)} files in this folder")
            for file in found:
                try:
                    records += _read_games(file, errors)
                except (UserError, OSError) as error:
                    errors.append(error_text(error))
    return records, errors


def _records_in(place: Path) -> list[Path]:
    """Returns the records in a folder, by name; a file as it is."""
    if not place.is_dir():
        return [place]
    from ...go.sgf import RECORD_SUFFIXES

    return files_with(RECORD_SUFFIXES, place)


def _read_games(file: Path, errors: list[str]) -> "list[GameRecord]":
    """Returns the games of a file; the errors of single games, if it has several, are added to `errors`.

    Raises:
        SgfError: The only game cannot be read.
        OSError: The file cannot be read.
    """
    from ...go.sgf import LINES_SUFFIX, read_sgf, read_sgf_games

    # The outputs, in UTF-8, contain the name, which may have bytes of another encoding.
    name = "standard input" if file == STANDARD else str(file).encode(errors="replace").decode()
    data = sys.stdin.buffer.read() if file == STANDARD else file.read_bytes()
    found: list[str] = []
    records = list(read_sgf_games(data, name=name, on_error=lambda error: found.append(str(error))))
    if name.lower().endswith(LINES_SUFFIX) and not records and len(found) > 1:
        raise UserError(f"{name}: expected one game per line; if a game has several lines, rename the file to .sgf")
    if len(records) + len(found) > 1:
        errors += found[:_MOST_ERRORS]
        if len(found) > _MOST_ERRORS:
            errors.append(f"{name}: {plural(len(found) - _MOST_ERRORS, 'more game')} cannot be read")
        return records
    record = read_sgf(data if file == STANDARD else file)
    record.source = name  # without the number of the game
    return [record]


# The outputs.


def text_of(name: str, reviews: "Sequence[GameReview]", options: "ReviewOptions") -> str:
    """Returns the text of a file, by the name of its option."""
    match name:
        case "sgf":
            from ...study.review_sgf import annotated

            return "".join(annotated(review, comment_all=options.all_moves).to_sgf() for review in reviews)
        case "html":
            from ...study.page.page import review_page

            return review_page(reviews, options.language)
        case "json":
            from ...study.review_data import to_json

            return to_json(reviews)
    from ...study.review_data import to_csv

    return to_csv(reviews)


def check_files(options: "ReviewOptions", games: int) -> None:
    """Raises an error before the work begins if a file could not be saved after it."""
    if options.plot is not None:
        from ...study.curves import check_picture

        check_picture(options.plot)
    outputs = [*options.outputs.values(), *(_picture(options.plot, number, games) for number in range(1, games + 1))]
    paths = [path for path in outputs if path is not None]
    places = [path.resolve() for path in paths]  # also spelt differently, or through links
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            name = "standard output" if path == STANDARD else path
            raise click.UsageError(f"only one output can go to {name}")
    check_outputs(paths, [file for place in options.files for file in _records_in(place)], force=options.force)


def _picture(plot: Path | None, number: int, games: int) -> Path | None:
    """Returns the picture of a game, if pictures are wanted: curve.png, or curve-1.png and so on for several games."""
    return plot if plot is None or games == 1 else plot.with_stem(f"{plot.stem}-{number}")


def save(options: "ReviewOptions", reviews: "Mapping[int, GameReview]", games: int) -> dict[Path, str]:
    """Writes the files, each of them even if another one fails; not what goes to standard output.

    Args:
        options: What is wanted.
        reviews: The reviews by the number of the game, from 1.
        games: The number of games.

    Returns:
        The error of each file, "" if it was written.
    """
    results = {}
    for name, path in options.outputs.items():
        if path != STANDARD:
            results[path] = _error_of(partial(write_text, path, text_of(name, [*reviews.values()], options)))
    for number, review in reviews.items():
        if (picture := _picture(options.plot, number, games)) is not None:
            from ...study.curves import plot_curve

            results[picture] = _error_of(partial(plot_curve, review, picture))
    return results


def _error_of(write: Callable[[], object]) -> str:
    try:
        write()
    except OSError as error:
        return f"cannot save {error_text(error)}"
    return ""


def print_standard(options: "ReviewOptions", reviews: "Sequence[GameReview]") -> None:
    """Writes what was requested for standard output, if anything, in UTF-8 as in files."""
    for name, path in options.outputs.items():
        if path == STANDARD:
            click.echo(text_of(name, reviews, options).encode(), nl=False)


def report_saved(options: "ReviewOptions", results: Mapping[Path, str]) -> None:
    """Tells which of the files were written, by the results of `save`."""
    for path, error in results.items():
        if not error:
            report_written(path, is_page=path == options.html, err=options.uses_standard)
