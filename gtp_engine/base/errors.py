"""Errors that are not bugs, and how errors are shown to users."""

import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .messages import printable

if TYPE_CHECKING:
    from .languages.texts import Phrase


class UserError(ValueError):
    """Base class of all errors that a user, a client or a file caused.

    The message is one line that names what was wrong and what is accepted. Every program of this package shows it
    alone. An exception that is not in `EXPECTED` is a bug, and is shown with the place it came from.

    Attributes:
        phrase: The message as a phrase that pages show in their own language; None if it exists in English only.
    """

    phrase: "Phrase | None" = None

    def __init__(self, message: "str | Phrase" = "") -> None:
        if not isinstance(message, str):
            from .languages.texts import texts

            self.phrase, message = message, texts().say(message)
        super().__init__(message)


class ProcessLostError(UserError):
    """A process that the work needs has ended: a worker, or another training process."""


# What a user did wrong, and what the system refuses.
EXPECTED = (UserError, OSError, MemoryError)
_UNMAPPED = "failed to map segment from shared object"  # says glibc of a library that it cannot load


def error_text(error: BaseException) -> str:
    """Returns the message of an error in one printable line; for the system's errors, the file and the reason."""
    if unmapped := next((str(each) for each in _causes(error) if _UNMAPPED in str(each)), ""):
        return printable(f"{' '.join(unmapped.split())}: there is too little memory, or its folder is mounted noexec")
    if isinstance(error, OSError) and error.strerror:
        return printable(f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror)
    text = printable(" ".join(str(error).split()))
    return "out of memory" if isinstance(error, MemoryError) and not text else text  # Python's own has no text


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error, and those that have led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def answer_text(error: BaseException) -> str:
    """Returns the message for a client in one line; that of a bug is `internal error: TYPE: message`."""
    text = error_text(error)
    return text if isinstance(error, EXPECTED) else f"internal error: {type(error).__name__}: {text}"


def error_place(error: BaseException) -> str:
    """Returns the place where an error was raised, `file:line`: the end of its traceback."""
    places = traceback.extract_tb(error.__traceback__, -1)
    return f"{places[0].filename}:{places[0].lineno}" if places else "unknown place"
