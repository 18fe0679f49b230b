"""The engine against itself: whole games with varied openings, kept as SGF."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..engine import Engine
from ..sgf import GameRecord, write_sgf

# AlphaZero's self-play (Silver et al. 2018, "Domain specific noise"), as search parameters.
NOISE = ("root_noise=0.25", "temperature=1")


@dataclass(frozen=True)
class SelfplayGame:
    """One finished game. result: as in SGF, "Void" where the cap ended it; file: where it is."""

    number: int
    moves: int
    result: str
    file: Path


def move_cap(area: int) -> int:
    """The moves after which a game is given up: twice the points of the board (AlphaGo Zero, Silver et al. 2017)."""
    return 2 * area


def selfplay(
    engine: Engine, games: int, folder: Path, on_move: Callable[[int, int], None], *, comments: bool = False
) -> Iterator[SelfplayGame]:
    """Plays `games` games on the engine's board, rules and komi; each is written to `folder` before it is yielded.

    on_move(game number, moves so far) is called after every move. `comments` keeps what each search found. Raises
    OSError where a file cannot be written.
    """
    for number in range(1, games + 1):
        record = _play_game(engine, partial(on_move, number), comments)
        file = folder / f"{number:0{max(4, len(str(games)))}}.sgf"
        write_sgf(record, file)
        yield SelfplayGame(number, len(engine.game.moves), record.result, file)


def _play_game(engine: Engine, on_move: Callable[[int], None], comments: bool) -> GameRecord:
    engine.clear_board()
    cap = move_cap(engine.game.area)
    thoughts: dict[int, str] = {}
    while not engine.game.is_over and len(engine.game.moves) < cap:
        decision = engine.best_move()
        number = len(engine.game.moves)
        if comments and decision.report is not None:
            thoughts[number] = decision.report.as_comment()
        on_move(number)
    result = str(engine.final_score().result()) if engine.game.is_over else "Void"
    name = engine.name
    return GameRecord.from_game(engine.game, black=name, white=name, result=result, comments=thoughts)
