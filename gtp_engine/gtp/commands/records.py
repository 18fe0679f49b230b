"""Game records: loading one into the engine, writing the game being played."""

from ...wording import reason
from ..arguments import expect, integer
from ..protocol import GtpError
from ..registry import command
from ..session import Session

CANNOT_LOAD = "cannot load file"
CANNOT_WRITE = "cannot write file"


@command("loadsgf")
def loadsgf(session: Session, arguments: list[str]) -> None:
    """The position before move N of the main line, or all of it; with the record's size, komi and rules, those of the
    engine where it names none."""
    from ...sgf import read_sgf

    expect(arguments, 1, 2)
    moves = integer(arguments[1], 0) if len(arguments) == 2 else None
    try:
        record = read_sgf(arguments[0])
        rules = record.game_rules() or session.engine.rules
        game = record.to_game(None if moves is None else max(moves - 1, 0), rules=rules)
    except (ValueError, OSError) as error:
        raise GtpError(CANNOT_LOAD, reason(error)) from error
    if record.komi is None:
        game.set_komi(session.engine.komi_on(game.width, game.height))
    session.engine.load(game)
    session.last_report = None


@command("printsgf")
def printsgf(session: Session, arguments: list[str]) -> str | None:
    """The game so far as SGF, as the answer or into a file, which must not exist yet."""
    from ...sgf import GameRecord, write_sgf

    expect(arguments, 0, 1)
    record = GameRecord.from_game(session.game)
    if not arguments or arguments[0] == "-":
        return record.to_sgf()
    try:
        write_sgf(record, arguments[0], overwrite=False)
    except (ValueError, OSError) as error:
        raise GtpError(CANNOT_WRITE, reason(error)) from error
    return None
