"""Types of option values that are numbers, sizes or ranges: each names what is wrong with a text."""

import re
from typing import Any

import click

from ..base.errors import UserError
from ..base.fields import Range, parse_board_size, parse_number
from ..evaluate.choices import LARGEST_BOARD
from ..play.ranks import STRONGEST, WEAKEST, Rank, parse_rank

SMALLEST, LARGEST = 2, 25
NO_LEVELS = f"levels have been replaced by ranks: use one from {WEAKEST} to {STRONGEST}, such as --rank 12k"


class BoardSize(click.ParamType):
    """`9` or `13x9` (width x height)."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        try:
            return parse_board_size(str(value), SMALLEST, LARGEST)
        except UserError as error:
            self.fail(str(error), param, ctx)


class Komi(click.ParamType):
    """A number of points up to LARGEST_KOMI for either side."""

    name = "komi"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from ..game.rules import LARGEST_KOMI

        try:
            return parse_number("komi", value, Range(-LARGEST_KOMI, LARGEST_KOMI))
        except UserError as error:
            self.fail(f"{error}, such as 7.5, 7 or -3", param, ctx)


class WholeNumber(click.IntRange):
    """A whole number in a range; click's own words for wrong ones are `is not a valid integer range`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(parse_number("number", value, Range(self.min, self.max, whole=True)))
        except UserError as error:
            self.fail(str(error), param, ctx)


class Stones(WholeNumber):
    """A number of handicap stones in a range, or 0 for none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if str(value).strip() == "0":
            return 0
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message}, or 0", param, ctx)


class Number(click.FloatRange):
    """A finite number in a range: click's own lets nan pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(parse_number("number", value, Range(self.min, self.max, above=self.min_open)))
        except UserError as error:
            self.fail(str(error), param, ctx)


class Seconds(click.ParamType):
    """A finite time above 0."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return parse_number("time", value, Range(0, above=True, noun="number of seconds"))
        except UserError as error:
            self.fail(f"{error}, such as 2 or 0.5", param, ctx)


class RankName(click.ParamType):
    """`25k` to `5d`, or `max`."""

    name = "rank"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Rank | None":
        try:
            return value if isinstance(value, Rank) else parse_rank(str(value))
        except UserError as error:
            self.fail(str(error), param, ctx)


class Refused(click.ParamType):
    """The type of an option that users may expect, but that the command does not have: every value is an error.

    Args:
        remedy: The error, which says what to use instead.
    """

    name = "refused"

    def __init__(self, remedy: str) -> None:
        self.remedy = remedy

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> None:
        raise UserError(self.remedy)


class BoardWeights(click.ParamType):
    """Board sizes and how often each is used, as in `9=1,19=2`: weights by size."""

    name = "SIZE=WEIGHT,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float]:
        if isinstance(value, dict):
            return value
        weights = {}
        try:
            for part in str(value).split(","):
                size, _, weight = part.partition("=")
                width, height = parse_board_size(size, SMALLEST, LARGEST_BOARD)
                weights[f"{width}x{height}"] = Number(0, min_open=True).convert(weight or "1", param, ctx)
        except UserError as error:
            self.fail(f"{error}; expected sizes and weights, as in 9=1,19=2", param, ctx)
        return weights


class MoveRange(click.ParamType):
    """`20-80`, `20-` or `80`."""

    name = "moves"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int | None]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d{1,5})(-(\d{1,5})?)?", str(value).strip(), re.ASCII)
        first = int(match[1]) if match else 0
        last = first if match and match[2] is None else int(match[3]) if match and match[3] else None
        if first < 1 or (last is not None and last < first):
            self.fail(f"invalid range of moves {value!r}: expected 20-80, 20- or 80", param, ctx)
        return first, last
