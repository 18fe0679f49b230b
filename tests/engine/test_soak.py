"""Whether memory and threads stay bounded in a bot's long life: games, analyses and boards that follow each other."""

import gc
import threading
from pathlib import Path

import pytest

from gtp_engine import Engine, EngineSettings

STATUS = Path("/proc/self/status")
GAMES, WARM_UP = 40, 10
MOST = 8.0  # MB; it grows by 3 with the first larger board, and then no more


def resident() -> float:
    """Returns the memory that this process uses now, in MB."""
    gc.collect()
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def play(engine: Engine, size: int) -> None:
    """Plays a game with evaluations and moves taken back, and counts it."""
    engine.set_board_size(size)
    for number in range(2 * size * size):
        if engine.game.is_over:
            break
        if number % 10 == 5:
            engine.evaluate()
            engine.undo()
        decision = engine.genmove().result()
        engine.commit(decision)
        if decision.resign:
            break
    engine.dead_stones().result()


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="memory is read from /proc, which this system lacks")
def test_memory_and_threads_do_not_grow_from_game_to_game() -> None:
    with Engine(EngineSettings("b4c32-9x9", visits=8, threads=1, seed=1)) as engine:
        for _ in range(WARM_UP):
            play(engine, 7)
        before, threads = resident(), threading.active_count()
        for number in range(GAMES):
            play(engine, (7, 5, 9)[number % 3])
        assert threading.active_count() <= threads
        assert resident() - before < MOST
