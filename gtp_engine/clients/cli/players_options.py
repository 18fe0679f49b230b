"""The options of a game that people play, in the terminal or in the browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base.errors import UserError
from ...base.fields import Range, Text, parse_number
from ...base.settings import setting
from ...table.new_game import COLOURS
from .common_options import GameOptions
from .options import FOLDER

# A first game takes ten minutes on 9x9, and two hours on 19x19.
DEFAULTS = {"board_size": "9"}


def _stones(value: Any) -> int:
    if str(value).strip() == "0":
        return 0
    try:
        return int(parse_number("number", value, Range(2, 9, whole=True)))
    except UserError as error:
        raise UserError(f"{error}, or 0") from error


def _saved_games() -> list[str]:
    from ...base.files import files_with
    from ...base.folders import games_dir

    return [path.name for path in reversed(files_with((".sgf",), games_dir()))]


@dataclass(frozen=True)
class PlayersOptions(GameOptions):
    """Who plays, and which saved game; None if an option without a default is not given.

    Attributes:
        file: The saved game to continue: a path, or a name in the folder of saved games.
        colour: Your colour; both: for two human players.
        handicap: Handicap stones for Black, 2 to 9; komi becomes 0.5. 0: none.
        resume: Continue the unfinished game that was saved last, or begin a new one.
        move: Continue the saved game after its move N.
        sgf_dir: Folder for saved games.
        comments: Save the engine's win rate, score and main line with its moves.
    """

    file: str | None = setting(None, accepts=Text(None, "file", _saved_games, True), argument=True, required=False)
    colour: str = setting("black", accepts=COLOURS, flags=["--colour", "--color"], heading="Game")
    handicap: int | None = setting(None, accepts=Text(_stones, "N"))
    resume: bool = setting(False, flags=["--resume/--new"], heading="Saved games")
    move: int | None = setting(None, accepts=Range(0, whole=True))
    sgf_dir: Path | None = setting(None, accepts=FOLDER, metavar="FOLDER", shown="shown by `gtp_engine doctor`")
    comments: bool = setting(False)
