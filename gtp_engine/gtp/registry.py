"""The commands by name. To add one, write one function with the decorator in a module of `commands`."""

from collections.abc import Callable

from .session import Session

Handler = Callable[[Session, list[str]], str | None]

COMMANDS: dict[str, Handler] = {}


def command(*names: str) -> Callable[[Handler], Handler]:
    """Makes a function the answer to the GTP commands `names`; `list_commands` shows them in this order.

    The function takes the session and the command's arguments, and returns the response's text (None: empty). It raises
    GtpError, or ValueError or OSError with a text for the user, before it has changed anything.
    """

    def register(handler: Handler) -> Handler:
        for name in names:
            COMMANDS[name] = handler
        return handler

    return register
