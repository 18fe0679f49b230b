"""The files that `gtp_engine review` writes: one entry of `FORMATS` for each kind of text, and pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ...base.errors import error_text
from .game_files import STANDARD
from .options import FILE_OR_STANDARD, Option
from .outputs import check_outputs, is_stream, report_written

if TYPE_CHECKING:
    from ...study.game_review import GameReview


@dataclass(frozen=True)
class Outputs:
    """What to write.

    Attributes:
        files: The file for each format, `STANDARD` for standard output; the formats are names of `FORMATS`.
        plot: The picture of the curves, if it is wanted; several games have curve-1.png, curve-2.png and so on.
        language: The language of the page.
        force: Whether existing files are overwritten.
        all_moves: Whether every move has a comment in the SGF.
        games: The number of games.
    """

    files: Mapping[str, Path]
    plot: Path | None
    language: str
    force: bool
    all_moves: bool
    games: int = 1

    @property
    def has_standard(self) -> bool:
        """Whether one of the files is standard output."""
        return STANDARD in self.files.values()

    @property
    def pictures(self) -> list[Path]:
        """The picture of each game."""
        if self.plot is None or self.games == 1:
            return [self.plot] if self.plot else []
        return [self.plot.with_stem(f"{self.plot.stem}-{number}") for number in range(1, self.games + 1)]

    def check(self, inputs: Sequence[Path]) -> None:
        """Raises an error before the work begins if a file could not be saved after it.

        Args:
            inputs: The files and folders to read.
        """
        if self.plot is not None:
            from ...study.curve import check_picture

            check_picture(self.plot)
        outputs = [*self.files.values(), *self.pictures]
        places = [path.resolve() for path in outputs]  # also spelt differently, or through links
        for path, place in zip(outputs, places, strict=True):
            if places.count(place) > 1:
                name = "standard output" if path == STANDARD else path
                raise click.UsageError(f"only one output can go to {name}")
        check_outputs(outputs, inputs, force=self.force)

    def save(self, reviews: "Sequence[GameReview]", number: int) -> dict[Path, str]:
        """Writes the files, each of them even if another one fails; `save_streams` writes pipes and devices.

        Args:
            reviews: The reviews so far. The last one is new: its picture is drawn.
            number: The number of the last one among the games to review, from 1.

        Returns:
            The error of each file, "" if it was written.
        """
        results = self._write(reviews, streams=False)
        if self.pictures:
            from ...study.curve import plot_curve

            path = self.pictures[number - 1]
            results[path] = _error_of(partial(plot_curve, reviews[-1], path))
        return results

    def save_streams(self, reviews: "Sequence[GameReview]") -> dict[Path, str]:
        """Writes to pipes and devices, once for all reviews, as they keep what is written to them; returns errors."""
        return self._write(reviews, streams=True)

    def _write(self, reviews: "Sequence[GameReview]", *, streams: bool) -> dict[Path, str]:
        from ...base.files import write_text

        results = {}
        for name, path in self.files.items():
            if path != STANDARD and is_stream(path) == streams:
                results[path] = _error_of(partial(write_text, path, FORMATS[name].text(reviews, self)))
        return results

    def print(self, reviews: "Sequence[GameReview]") -> None:
        """Writes what was requested for standard output, if anything, in UTF-8 as in files."""
        for name, path in self.files.items():
            if path == STANDARD:
                click.echo(FORMATS[name].text(reviews, self).encode(), nl=False)

    def report(self, results: Mapping[Path, str]) -> None:
        """Tells which of the files were written, by the results of `save` and `save_streams`."""
        for path, error in results.items():
            if not error:
                report_written(path, is_page=path == self.files.get("html"), err=self.has_standard)


def _error_of(write: Callable[[], object]) -> str:
    """Writes a file; returns the error, or "" if it was written."""
    try:
        write()
    except OSError as error:
        return f"cannot save {error_text(error)}"
    return ""


class Format(NamedTuple):
    """A kind of text: what the help says about the option, and the function that returns the text."""

    help: str
    text: "Callable[[Sequence[GameReview], Outputs], str]"


def _to_sgf(reviews: "Sequence[GameReview]", outputs: Outputs) -> str:
    from ...study.review_sgf import annotated

    return "".join(annotated(review, comment_all=outputs.all_moves).to_sgf() for review in reviews)


def _to_html(reviews: "Sequence[GameReview]", outputs: Outputs) -> str:
    from ...study.page.page import review_page

    return review_page(reviews, outputs.language)


def _to_json(reviews: "Sequence[GameReview]", outputs: Outputs) -> str:
    from ...study.review_data import to_json

    return to_json(reviews)


def _to_csv(reviews: "Sequence[GameReview]", outputs: Outputs) -> str:
    from ...study.review_data import to_csv

    return to_csv(reviews)


# By the names of their options.
FORMATS = {
    "sgf": Format(
        "Write an annotated SGF with better lines as variations, but without the record's variations and marks.",
        _to_sgf,
    ),
    "html": Format("Write a page for the browser, one file for all games.", _to_html),
    "json": Format("Write all facts of the review as JSON.", _to_json),
    "csv": Format("Write a table of the moves as CSV.", _to_csv),
}
FORMAT_OPTIONS = [
    Option([f"--{name}"], type=FILE_OR_STANDARD, help=made.help, heading="Output") for name, made in FORMATS.items()
]
