"""The errors of a command line, as they are shown: what was probably meant, no escape sequences, whole words."""

import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from ...base.fields import similar
from ...base.messages import printable


def make_readable(error: click.ClickException) -> None:
    """Removes escape sequences from an error, which may quote the name of a file, and wraps it for a terminal."""
    text = printable(error.format_message())
    if sys.stderr is not None and sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(f"Error: {text}", width, break_long_words=False, break_on_hyphens=False)[len("Error: ") :]
    error.format_message = lambda: text  # type: ignore[method-assign]


def no_such_option(name: str, typed: Sequence[str], ctx: click.Context) -> click.NoSuchOption:
    """Returns the error for an unknown option.

    Click compares the hyphens too, so that it takes `--white` for `--help`, and of `-modell` it names only `-m`.

    Args:
        name: The option, as click names it.
        typed: The command line.
        ctx: The command.
    """
    known = {option for param in ctx.command.get_params(ctx) for option in (*param.opts, *param.secondary_opts)}
    words = (word.partition("=")[0] for word in typed)
    if len(name) == 2:
        name = next((word for word in words if word.startswith(name) and word not in known), name)
    names = [option for param in ctx.command.get_params(ctx) for option in param.opts if option.startswith("--")]
    near = [f"'--{option}'" for option in similar(name.lstrip("-"), [option[2:] for option in names])]
    guess = f" Did you mean {' or '.join(near)}?" if near else ""
    return click.NoSuchOption(name, f"No such option {name!r}.{guess}", ctx=ctx)
