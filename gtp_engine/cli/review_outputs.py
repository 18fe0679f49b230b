"""The files that `gtp_engine review` writes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.errors import error_text
from .game_files import STANDARD
from .outputs import is_stream, report_written
from .review_options import ReviewOptions

if TYPE_CHECKING:
    from ..analysis.game_review import GameReview

    _Writer = Callable[[Path, Sequence[GameReview]], None]


def save_files(reviews: "Sequence[GameReview]", options: ReviewOptions, number: int, games: int) -> dict[Path, str]:
    """Writes the requested files, each of them even if another one fails; `save_streams` writes pipes and devices.

    Args:
        reviews: The reviews so far. The last one is new: its picture is drawn.
        options: The files.
        number: The number of the last one among the games to review, from 1.
        games: The number of games to review.

    Returns:
        The error of each file, "" if it was written.
    """
    from ..analysis.curve import plot_curve

    files = [(path, write) for path, write in _files(options) if not is_stream(path)]
    if pictures := options.pictures(games):
        files.append((pictures[number - 1], lambda path, reviews: plot_curve(reviews[-1], path)))
    return _written(files, reviews)


def save_streams(reviews: "Sequence[GameReview]", options: ReviewOptions) -> dict[Path, str]:
    """Writes to the requested pipes and devices, once for all reviews, as they keep what is written to them.

    Returns:
        The error of each, "" if it was written.
    """
    return _written([(path, write) for path, write in _files(options) if is_stream(path)], reviews)


def _written(files: "Sequence[tuple[Path, _Writer]]", reviews: "Sequence[GameReview]") -> dict[Path, str]:
    """Writes the files; returns the error of each, "" if it was written."""
    results = {}
    for path, write in files:
        try:
            write(path, reviews)
            results[path] = ""
        except OSError as error:
            results[path] = f"cannot save {error_text(error)}"
    return results


def report_files(results: Mapping[Path, str], options: ReviewOptions) -> None:
    """Tells which of the files were written, by the results of `save_files` and `save_streams`."""
    has_output = STANDARD in options.outputs(1)
    for path, error in results.items():
        if not error:
            report_written(path, is_page=path == options.html, err=has_output)


def print_output(reviews: "Sequence[GameReview]", options: ReviewOptions) -> None:
    """Writes what was requested for standard output, if anything, in UTF-8 as in files."""
    for path, make_text in _texts(options):
        if path == STANDARD:
            click.echo(make_text(reviews).encode(), nl=False)


def _files(options: ReviewOptions) -> "list[tuple[Path, _Writer]]":
    """Returns the files to write except for pictures, each with the function that writes it."""
    from ..base.files import write_text

    def writer(make_text: "Callable[[Sequence[GameReview]], str]") -> "_Writer":
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
