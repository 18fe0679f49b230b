"""Progress that is redrawn in place on a terminal."""

import logging

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

logger = logging.getLogger(__name__)


def can_redraw(console: Console) -> bool:
    """Whether a console can move its cursor; where it cannot, rich's `Live` shows nothing before it ends.

    A dumb terminal cannot, as a pipe cannot.
    """
    return console.is_terminal and not console.is_dumb_terminal


def progress_bar(*, hidden: bool = False) -> Progress:
    """Returns a progress bar with a text before it, what is done and the time left after it.

    It is hidden if standard error is no terminal, with --quiet, and if `hidden` says so.
    """
    console = Console(stderr=True)
    is_shown = console.is_terminal and logger.isEnabledFor(logging.WARNING)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True, disable=hidden or not is_shown)
