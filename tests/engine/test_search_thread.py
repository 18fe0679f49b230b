"""Events that end searches, from several threads."""

import threading
import time
from types import SimpleNamespace

import pytest

from gtp_engine.engine import search_thread
from gtp_engine.engine.search_thread import SearchThread
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker


def test_no_event_is_lost_when_two_threads_stop_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose event was replaced without having been set could never be ended."""
    made: list[threading.Event] = []

    class SlowEvent(threading.Event):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

        def set(self) -> None:
            super().set()
            time.sleep(0.001)  # another thread comes between

    names = {"Event": SlowEvent, "Thread": threading.Thread, "Lock": threading.Lock}
    names["current_thread"] = threading.current_thread
    monkeypatch.setattr(search_thread, "threading", SimpleNamespace(**names))
    thread = SearchThread(lambda: SearchWorker(EngineSettings("uniform", threads=1, seed=1)))

    def stop() -> None:
        for _ in range(20):
            thread.stop()

    other = threading.Thread(target=stop)
    other.start()
    for _ in range(20):
        thread.stop_pondering()
    other.join()
    assert [event for event in made if not event.is_set() and event is not thread.pondering_stop] == []
    assert len(made) == 1 + 20 + 20
    assert thread.close(10)


class NoWorker:
    """Only notes that it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_what_was_submitted_is_done_although_another_thread_closes_meanwhile() -> None:
    thread = SearchThread(NoWorker)  # type: ignore[arg-type]
    has_begun, jobs = threading.Event(), thread._jobs

    class SlowJobs:
        """Another thread comes between the check whether the thread is closed and the job."""

        def put(self, job: object) -> None:
            if job is not None:
                has_begun.set()
                time.sleep(0.2)
            jobs.put(job)  # type: ignore[arg-type]

    thread._jobs = SlowJobs()  # type: ignore[assignment]
    answers = []
    owner = threading.Thread(target=lambda: answers.append(thread.submit(lambda _: 5)))
    owner.start()
    assert has_begun.wait(10)
    assert thread.close(10)
    owner.join()
    assert answers[0].result(10) == 5


def test_the_worker_is_closed_once_however_often_the_thread_is() -> None:
    workers: list[NoWorker] = []

    def make() -> NoWorker:
        workers.append(NoWorker())
        return workers[-1]

    thread = SearchThread(make)  # type: ignore[arg-type]
    thread.submit(lambda _: None)
    others = [threading.Thread(target=thread.close) for _ in range(8)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert thread.close(10) and [worker.closed for worker in workers] == [1]
    unused = SearchThread(make)  # type: ignore[arg-type]
    assert unused.close(10) and len(workers) == 1


def test_a_job_may_close_its_thread() -> None:
    thread = SearchThread(NoWorker)  # type: ignore[arg-type]
    closing = thread.submit(lambda _: thread.close())
    assert closing.result(10) is False
    assert thread.is_closed and thread.close(10)
