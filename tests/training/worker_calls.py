"""What tests call in the workers of a cluster."""

from pathlib import Path

from gtp_engine.base.errors import UserError
from gtp_engine.base.pool import Worker


def read(worker: Worker, path: str) -> tuple[int, str, str]:
    """Returns the number of the worker, the path of a file and its text."""
    return worker.number, path, Path(path).read_text()


def fail(worker: Worker) -> None:
    raise UserError("the user's mistake")


def fail_unexpectedly(worker: Worker) -> None:
    raise LookupError("a bug")
