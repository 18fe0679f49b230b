"""Work in other processes: a pool of workers, wherever they are.

A worker is a process that answers one call at a time. A call is a function of a module, whose first argument is the
`Worker`; its other arguments and its result are pickled. A worker that is lost is replaced by one with another number;
the call that it was working on is reported as lost, and the caller decides what to do: nothing is repeated
automatically. `base.processes` has the pool of this machine, `base.cluster` that of several machines.
"""

import itertools
import logging
import time
from abc import abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from .errors import ProcessLostError
from .system import WAIT_SECONDS
from .threads import Closing

logger = logging.getLogger(__name__)

T = TypeVar("T")

# For each worker that there should be, losses in a row before the first answer: by judgement. A machine that goes while
# its workers start costs each of them once.
MOST_LOSSES = 3
_SAME_LOSS_SECONDS = 5.0  # in which losses for the same reason are one: those of a whole machine


@dataclass(frozen=True)
class SharedFile:
    """A file as an argument of a call, made by `Pool.share`; the function receives the path of a file like it, a text.

    Attributes:
        path: Where it is on this machine.
        key: Its name in the store of a cluster; "" where workers read it from its path.
    """

    path: Path
    key: str = ""


class Worker:
    """What a worker's process has between calls: its number, and objects that it keeps by name."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._kept: dict[str, tuple[object, Any]] = {}

    def kept(self, name: str, key: object, make: Callable[[], T]) -> T:
        """Returns the object of a name, made now if the one that is kept was made for another key."""
        known, found = self._kept.get(name, (None, None))
        if known != key or found is None:
            self.forget(name)
            found = make()
            self._kept[name] = key, found
        return found

    def forget(self, name: str) -> None:
        """Closes the object of a name, if there is one."""
        _, found = self._kept.pop(name, (None, None))
        if found is not None:
            found.close()


class Answer(NamedTuple):
    """What became of a call: its number, and its result unless its worker was lost."""

    call: int
    result: Any
    is_lost: bool = False


class Pool(Closing):
    """Workers; `close`, or the end of a `with` block, ends them, also those that are working."""

    def __init__(self) -> None:
        self._worker_numbers, self._call_numbers = itertools.count(), itertools.count()
        self._calls: dict[int, int] = {}  # those under way, by their workers
        self._proven: set[int] = set()  # the workers that have answered a call
        self._losses = 0  # of others, since one of them has answered for the first time
        self._last_loss = "", 0.0  # why, and when
        self._per_machine, self._with_gpus = 0, True

    def prepare(self, workers: int = 0, *, with_gpus: bool = True) -> None:
        """Sets how many workers each machine should have, 0 for one for each CPU, and whether they share its GPUs."""
        self._per_machine, self._with_gpus = workers, with_gpus

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of workers that there should be now, at least 1."""

    def share(self, path: Path) -> SharedFile:
        """Returns a file as an argument of calls, with the content that it has now; OSError if it cannot be read."""
        return SharedFile(path)

    @property
    def under_way(self) -> set[int]:
        """The numbers of the calls that have not been answered."""
        return {*self._calls.values()}

    def idle(self) -> list[int]:
        """Returns the workers that wait for a call, after starting those that are missing."""
        self._fill()
        return [worker for worker in self._ready() if worker not in self._calls]

    def call(self, worker: int, function: Callable[..., Any], *arguments: Any) -> int:
        """Calls a function in an idle worker, and returns the number of the call."""
        self._calls[worker] = next(self._call_numbers)
        self._send(worker, function, arguments)
        return self._calls[worker]

    def wait(self, seconds: float) -> Iterator[Answer]:
        """Yields what has become of calls, after waiting some seconds if there is nothing yet.

        Raises:
            ProcessLostError: Workers are lost again and again before they finish anything, or all of them at once.
            Exception: The error of a call.
        """
        for worker, result in self._receive(seconds):
            call = self._calls.pop(worker, None)
            if is_lost := isinstance(result, ProcessLostError):
                self._lose(worker, str(result), is_working=call is not None)
            elif isinstance(result, BaseException):
                raise result
            elif worker not in self._proven:
                self._proven.add(worker)
                self._losses = 0
            if call is not None:
                yield Answer(call, result, is_lost)

    def results(
        self, tasks: Iterable[T], call: Callable[[int, T], int], check: Callable[[], object]
    ) -> Iterator[tuple[T, Any]]:
        """Yields tasks with their results, as they come; the task of a lost worker is given to another one.

        A task, which is not None, is taken when a worker waits for it. `call` calls a worker for a task and returns the
        number of the call; `check` is called several times a second.
        """
        again: list[T] = []
        waiting, begun = iter(tasks), dict[int, T]()
        is_over = False
        while not is_over or begun:
            for worker in () if is_over else self.idle():
                check()  # to make the arguments of many calls may take long
                task = again.pop() if again else next(waiting, None)
                if is_over := task is None:
                    break
                begun[call(worker, task)] = task
            check()
            for answer in self.wait(WAIT_SECONDS):
                if answer.call not in begun:
                    continue  # somebody else has not waited for it
                task = begun.pop(answer.call)
                if answer.is_lost:
                    again.append(task)
                    is_over = False
                else:
                    yield task, answer.result

    def _lose(self, worker: int, why: str, *, is_working: bool) -> None:
        """Reports a lost worker if work is lost with it. Raises ProcessLostError if workers are lost too often."""
        self._losses += worker not in self._proven
        self._proven.discard(worker)
        if self._losses > MOST_LOSSES * self.size:
            raise ProcessLostError(f"workers end before they have done anything: {why}")
        last, when = self._last_loss
        now = time.monotonic()
        if is_working and (why != last or now - when > _SAME_LOSS_SECONDS):
            logger.warning(f"worker lost, another one replaces it: {why}")
            self._last_loss = why, now

    @abstractmethod
    def _fill(self) -> None:
        """Starts workers that are missing."""

    @abstractmethod
    def _ready(self) -> Iterable[int]:
        """Returns the workers that can be called, also if they are working."""

    @abstractmethod
    def _send(self, worker: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Sends a call to a worker."""

    @abstractmethod
    def _receive(self, seconds: float) -> Iterator[tuple[int, Any]]:
        """Yields workers and the results or errors of their calls; ProcessLostError, not raised, for lost workers."""


class Portions(Generic[T]):
    """Work in many items for workers that keep some of them and are called again and again, such as games.

    The items of lost workers are given to others.

    Attributes:
        due: By worker, the items that it has not finished; the caller removes those that are finished.
    """

    def __init__(self, pool: Pool, items: Iterable[T] | None, room: int) -> None:
        """Makes portions of some items, or, if there are None, calls the workers without end and without items.

        Args:
            pool: The workers.
            items: What is to be done.
            room: A worker with as many items gets no more.
        """
        self._pool, self._room, self._is_endless = pool, room, items is None
        self._waiting = deque(items or ())
        self._calls: dict[int, int] = {}  # under way, with their workers
        self.due: defaultdict[int, deque[T]] = defaultdict(deque)

    @property
    def is_under_way(self) -> bool:
        """Whether a call has not been answered."""
        return not self._pool.under_way.isdisjoint(self._calls)

    def call(self, worker: int, call: Callable[[int, list[T]], int]) -> None:
        """Calls an idle worker with more items, if it has anything to do; `call` returns the number of the call.

        A single worker gets all items, so that the same seed does the same. Otherwise a portion is half of a fair
        share: the rest is for machines that join, and for the fastest.
        """
        more: list[T] = []
        if len(self.due[worker]) < self._room:
            size = self._pool.size
            count = -(-len(self._waiting) // (2 * size)) if size > 1 else len(self._waiting)
            more = [self._waiting.popleft() for _ in range(count)]
            self.due[worker] += more
        if self._is_endless or self.due[worker]:
            self._calls[call(worker, more)] = worker

    def results(self, seconds: float) -> Iterator[tuple[int, Any]]:
        """Yields workers and the results of their calls, after waiting some seconds; raises what `Pool.wait` does."""
        for answer in self._pool.wait(seconds):
            worker = self._calls.pop(answer.call, None)
            if answer.is_lost and worker is not None:
                self._waiting.extendleft(self.due.pop(worker))
            elif worker is not None:
                yield worker, answer.result
