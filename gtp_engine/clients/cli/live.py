"""Progress that is redrawn in place on a terminal."""

from rich.console import Console


def can_redraw(console: Console) -> bool:
    """Whether a console can move its cursor; where it cannot, rich's `Live` shows nothing before it ends.

    A dumb terminal cannot, as a pipe cannot.
    """
    return console.is_terminal and not console.is_dumb_terminal
