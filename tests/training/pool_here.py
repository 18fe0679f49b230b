"""A pool without processes, for tests."""

from collections.abc import Callable, Iterator
from typing import Any

from gtp_engine.base.pool import Pool, SharedFile, Worker


class PoolHere(Pool):
    """One worker in this process: another one takes longer to start than a short run to play."""

    size = 1

    def __init__(self) -> None:
        super().__init__()
        self._worker = Worker(0)
        self._waiting: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def _fill(self) -> None:
        pass

    def _ready(self) -> list[int]:
        return [self._worker.number]

    def _send(self, worker: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._waiting.append((function, arguments))

    def _receive(self, seconds: float) -> Iterator[tuple[int, Any]]:
        if self._waiting:
            function, arguments = self._waiting.pop()
            paths = (str(item.path) if isinstance(item, SharedFile) else item for item in arguments)
            yield self._worker.number, function(self._worker, *paths)

    def close(self) -> None:
        self._worker.forget("selfplay")
