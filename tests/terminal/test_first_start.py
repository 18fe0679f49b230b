"""A game that begins while the engine is being compiled."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.base.warm_up import Step
from gtp_engine.clients.terminal import play
from gtp_engine.clients.terminal.play import TerminalGame
from gtp_engine.engine import worker
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.table.played_game import PlayedGame

LIMIT = 120  # seconds; the rules may have to be compiled


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Lets the engine compile more than the rules."""
    event = threading.Event()

    def warm_up(steps: list[Step]) -> None:
        steps[0].run()
        assert event.wait(LIMIT)

    monkeypatch.setattr(worker, "warm_up", warm_up)
    return event


@pytest.fixture
def engine(rest: threading.Event) -> Iterator[Engine]:
    with Engine(EngineSettings(network="uniform", threads=1), width=5) as engine:
        yield engine
        rest.set()


@pytest.mark.parametrize(("is_cold", "is_interactive"), [(True, True), (True, False), (False, True)])
def test_a_cold_start_waits_for_the_rules_only(
    engine: Engine,
    rest: threading.Event,
    is_cold: bool,
    is_interactive: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(play, "is_cold", Mock(return_value=is_cold))
    screen = Mock(is_interactive=is_interactive, redraws=False, working=lambda doing: threading.Lock())
    game = TerminalGame(PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path), screen)
    if not is_cold:
        threading.Timer(0.3, rest.set).start()
    game._get_ready()
    assert engine.ready.done() != is_cold
    assert (play._COMPILING in game._opening) == (is_cold and is_interactive)
    game._command_play("C3")
    assert len(engine.game.moves) == 1


@pytest.mark.parametrize(
    ("humans", "rank", "lines"),
    [
        ((BLACK,), None, [play._FULL_STRENGTH, play.choices(5, 5) + "; learn begins the first steps"]),
        ((BLACK,), "15k", [play.choices(5, 5) + "; learn begins the first steps"]),
        ((BLACK, WHITE), None, [play.choices(5, 5) + "; learn begins the first steps"]),
    ],
)
def test_a_new_game_says_that_the_engine_plays_at_full_strength(
    engine: Engine, humans: tuple[int, ...], rank: str | None, lines: list[str], tmp_path: Path
) -> None:
    engine.settings = replace(engine.settings, rank=rank)
    game = TerminalGame(PlayedGame(engine, humans=frozenset(humans), folder=tmp_path), Mock())
    assert game._opening.splitlines() == lines
