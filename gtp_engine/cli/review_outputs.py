"""The files that `gtp_engine review` writes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.errors import error_text
from .game_files import STANDARD
from .outputs import report_written
from .review_options import ReviewOptions

if TYPE_CHECKING:
    from ..analysis.game_review import GameReview


def save_files(reviews: "Sequence[GameReview]", options: ReviewOptions, number: int, games: int) -> dict[Path, str]:
    """Writes the requested files, each of them even if another one fails.

    Args:
        reviews: The reviews so far. The last one is new: its picture is drawn.
        options: The files.
        number: The number of the last one among the games to review, from 1.
        games: The number of games to review.

    Returns:
        The error of each file, "" if it was written.
    """
    from ..analysis.curve import plot_curve

    results = {}
    files = _files(options)
    if pictures := options.pictures(games):
        files.append((pictures[number - 1], lambda path, reviews: plot_curve(reviews[-1], path)))
    for path, write in files:
        try:
            write(path, reviews)
            results[path] = ""
        except OSError as error:
            results[path] = f"cannot save {error_text(error)}"
    return results


def report_files(results: Mapping[Path, str], options: ReviewOptions) -> None:
    """Tells which of the files were written, by the results of `save_files`."""
    has_output = STANDARD in options.outputs(1)
    for path, error in results.items():
        if not error:
            report_written(path, is_page=path == options.html, err=has_output)


def print_output(reviews: "Sequence[GameReview]", options: ReviewOptions) -> None:
    """Writes what was requested for standard output, if anything, in UTF-8 as in files."""
    for path, make_text in _texts(options):
        if path == STANDARD:
            click.echo(make_text(reviews).encode(), nl=False)


def _files(options: ReviewOptions) -> "list[tuple[Path, Callable[[Path, Sequence[GameReview]], None]]]":
    """Returns the files to write except for pictures, each with the function that writes it."""
    from ..base.files import write_text

    def writer(make_text: "Callable[[Sequence[GameReview]], str]") -> "Callable[[Path, Sequence[GameReview]], None]":
        return lambda path, reviews: write_text(path, make_text(reviews))

    return [(path, writer(make_text)) for path, make_text in _texts(options) if path != STANDARD]


def _texts(options: ReviewOptions) -> "list[tuple[Path, Callable[[Sequence[GameReview]], str]]]":
    """Returns the texts to write, each with the function that makes it."""
    from ..analysis.review_data import to_csv, to_json
    from ..analysis.review_sgf import annotated

    def to_sgf(reviews: "Sequence[GameReview]") -> str:
        return "".join(annotated(review, comment_all=options.all_moves).to_sgf() for review in reviews)

    def to_html(reviews: "Sequence[GameReview]") -> str:
        from ..analysis.page.page import review_page  # which imports a library for templates

        return review_page(reviews, options.language)

    kinds = ((options.sgf_file, to_sgf), (options.html, to_html), (options.json, to_json), (options.csv, to_csv))
    return [(path, make_text) for path, make_text in kinds if path is not None]
