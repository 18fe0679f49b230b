"""Events that end searches, from several threads."""

import threading
import time
from types import SimpleNamespace

import pytest

from gtp_engine.play import search_thread
from gtp_engine.play.search_thread import SearchThread
from gtp_engine.play.worker import SearchWorker


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
    monkeypatch.setattr(search_thread, "threading", SimpleNamespace(**names))
    thread = SearchThread(lambda: SearchWorker("uniform", 1, 1))

    def stop() -> None:
        for _ in range(20):
            thread.stop()

    other = threading.Thread(target=stop)
    other.start()
    for _ in range(20):
        thread.stop_pondering()
    other.join()
    current = (thread.stop_event, thread.pondering_stop)
    assert [event for event in made if not event.is_set() and event not in current] == []
    assert len(made) == 2 + 20 + 20 + 20
    assert thread.close(10)
