"""The first calls of the solver, which compile it.

As a program, `python -m gtp_engine.solver.first_calls`, it compiles the solver into the cache (`ahead`).
"""

import time
from contextlib import ExitStack

from ..base.errors import UserError
from ..base.files import folder_lock
from ..base.jit import CACHE_FOLDER
from ..base.warm_up import end_with_parent, without_garbage_collection
from ..go.game import Game
from .local_board import ATTACKER, DEFENDER, NO_KO
from .part import find_part
from .reading import Memory, Position, Reading

_LOCK = "solver.lock"


def use_solver(memory: Memory) -> None:
    """Solves a small problem; `verification.read` is the last function that it compiles."""
    game = Game(5)
    game.set_up(["A5", "A4", "B4"], ["A3", "B3", "C4", "C5"])
    part = find_part(game, [game.point("A4")])
    reading, start = Reading(memory, part, ATTACKER, DEFENDER), Position(part.stones, NO_KO, ATTACKER)
    reading.proved_steps(start)
    reading.read(start, positions=5_000)


def main() -> None:
    """Compiles the solver, or waits until another process has done it."""
    end_with_parent()
    with ExitStack() as stack:
        while CACHE_FOLDER is not None:
            try:
                stack.enter_context(folder_lock(CACHE_FOLDER, _LOCK))
                break
            except UserError:
                time.sleep(0.2)
        with without_garbage_collection():
            use_solver(Memory())


if __name__ == "__main__":
    main()
