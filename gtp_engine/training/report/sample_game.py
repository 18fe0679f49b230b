"""A game of a run on boards: the newest one of self-play, or one of the records that are held back."""

from contextlib import suppress
from html import escape

import numpy as np

from ...base.errors import UserError
from ...base.files import files_with
from ...go.coords import BLACK, PASS, WHITE, point_of_index
from ...go.game import Game
from ...go.sgf import GameRecord, read_sgf_games
from ..data.game_records import is_held
from ..data.samples import INDEX_BITS, WHITE_BIT, GameSet
from ..data.shards import read_shard, shard_files
from ..run_folder import RunFolder

_BOARDS = 3  # that show a third of the game each
_NUMBERED = 99  # larger numbers do not fit on a stone


def sample_game(folder: RunFolder) -> str:
    """Returns boards that show a game of a run, each with its moves numbered; "" if there is none."""
    if folder.settings().command == "learn":
        return _from_records(folder)
    record = _newest(folder)
    if record is None:
        return ""
    count = len(record.moves)
    caption = f"The newest game: {record.black} against itself, {count} moves, komi {record.komi:g}, {record.result}."
    return _boards(caption, record.to_game())


def _boards(caption: str, game: Game) -> str:
    """Returns boards after each third of a game, with what the game is; it is taken back on the way."""
    moves = list(game.moves)
    ends = sorted({round(len(moves) * (part + 1) / _BOARDS) for part in range(_BOARDS)} - {0})
    figures: list[str] = []
    for first, last in reversed([*zip([0, *ends], ends, strict=False)]):
        while len(game.moves) > last:
            game.undo()
        numbered = enumerate(moves[first:last], first + 1)
        labels = {move.point: str(number) for number, move in numbered if move.point != PASS and number <= _NUMBERED}
        board = game.to_svg(labels=labels, pixels=300)
        figures.insert(0, f"<figure>{board}<figcaption>moves {first + 1} to {last}</figcaption></figure>")
    return f'<p>{escape(caption)}</p><div class="boards">{"".join(figures)}</div>'


def _newest(folder: RunFolder) -> GameRecord | None:
    """Returns the last game of the newest collection that can be read; None if there is none."""
    for path in reversed(files_with((".sgf",), folder.records)):
        try:
            games = [game for game in read_sgf_games(path) if game.moves]
        except (OSError, UserError):
            continue
        if games:
            return games[-1]
    return None


def _from_records(folder: RunFolder) -> str:
    """Returns the boards of the first game that is held back, of the first shard that has one."""
    for path in shard_files(folder.games):
        try:
            games = read_shard(path)
        except (OSError, UserError):
            continue
        for place in np.flatnonzero(is_held(games.games["number"])).tolist():
            count = int(games.games["move_count"][place])
            caption = f"A game of the records that is held back: {count} moves, komi {games.games['komi'][place]:g}."
            with suppress(UserError):  # the record's rules allow a suicide that the usual ones forbid
                return _boards(caption, _replayed(games, place))
    return ""


def _replayed(games: GameSet, place: int) -> Game:
    """Returns a game of a set."""
    record = games.games[place]
    game = Game(int(record["width"]), int(record["height"]))

    def points(packed: np.ndarray) -> list[int]:
        return [point_of_index(int(index), game.width, game.height) for index in packed & INDEX_BITS]

    setup, moves = games.setup_of(place), games.moves_of(place)
    is_white = setup & WHITE_BIT > 0
    game.set_up(points(setup[~is_white]), points(setup[is_white]), int(record["to_move"]))
    for packed, point in zip(moves.tolist(), points(moves), strict=True):
        game.play(WHITE if packed & WHITE_BIT else BLACK, point)
    return game
