"""Generators on threads of their own."""

import threading
from collections.abc import Generator

import pytest

from gtp_engine.base.threads import on_own_thread


def names(count: int, closed: list[str]) -> Generator[str | None, None, None]:
    try:
        for _ in range(count):
            yield threading.current_thread().name
        yield None
        raise ValueError("no more")
    finally:
        closed.append(threading.current_thread().name)


def test_it_runs_on_another_thread_and_raises_here() -> None:
    closed: list[str] = []
    items = on_own_thread("other", names(2, closed))
    assert [next(items), next(items), next(items)] == ["other_0", "other_0", None]
    with pytest.raises(ValueError, match="no more"):
        next(items)
    assert closed == ["other_0"]


def test_a_caller_may_want_no_more() -> None:
    closed: list[str] = []
    stopped: list[bool] = []
    items = on_own_thread("other", names(9, closed), lambda: stopped.append(not closed))
    for _ in zip(range(2), items, strict=False):
        pass
    items.close()  # type: ignore[attr-defined]
    assert (stopped, closed) == ([True], ["other_0"])
    assert "other_0" not in [thread.name for thread in threading.enumerate()]
