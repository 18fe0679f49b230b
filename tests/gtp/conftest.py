"""Conversations with the program, and one that many tests share because each start takes a second."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conversation import Conversation

# Small and without chance; the clock commands of a test must not slow the next one down.
OPTIONS = ("--visits", "16", "--threads", "1", "--seed", "1", "--no-resign")
FRESH = ("kata-set-rules chinese", "kata-set-param visits 16", "time_settings 0 1 0", "komi 7", "boardsize 9")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Conversation]]:
    """Starts the program with options of the command `gtp`."""
    started: list[Conversation] = []

    def start(*options: str, **others: tuple[str, ...]) -> Conversation:
        started.append(Conversation(tmp_path / f"stderr{len(started)}", *options, **others))
        return started[-1]

    yield start
    for conversation in started:
        conversation.close()


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    conversation = Conversation(tmp_path_factory.mktemp("gtp") / "stderr", *OPTIONS)
    yield conversation
    conversation.send("quit")
    conversation.end_input()
    assert conversation.wait() == 0
    assert "Traceback" not in conversation.log()


@pytest.fixture
def engine(shared_engine: Conversation) -> Conversation:
    """A running program with an empty 9x9 board."""
    for command in FRESH:
        shared_engine.ask(command)
    return shared_engine
