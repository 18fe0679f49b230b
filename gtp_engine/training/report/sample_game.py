"""The newest game of self-play, on boards."""

from html import escape

from ...base.errors import UserError
from ...game.coords import PASS
from ...sgf import GameRecord, read_sgf_games
from ..run_folder import RunFolder

_BOARDS = 3  # that show a third of the game each
_NUMBERED = 99  # larger numbers do not fit on a stone


def sample_game(folder: RunFolder) -> str:
    """Returns boards that show the newest game of a run, each with its moves numbered; "" if there is none."""
    record = _newest(folder)
    if record is None or not record.moves:
        return ""
    count = len(record.moves)
    ends = [round(count * (part + 1) / _BOARDS) for part in range(_BOARDS)]
    figures = []
    for first, last in zip([0, *ends], ends, strict=False):
        moves = record.moves[first:last]
        numbers = {move.point: str(number) for number, move in enumerate(moves, first + 1) if move.point != PASS}
        labels = {point: text for point, text in numbers.items() if int(text) <= _NUMBERED}
        board = record.to_game(last).to_svg(labels=labels, pixels=300)
        figures.append(f"<figure>{board}<figcaption>moves {first + 1} to {last}</figcaption></figure>")
    caption = f"The newest game: {record.black} against itself, {count} moves, komi {record.komi:g}, {record.result}."
    return f'<p>{escape(caption)}</p><div class="boards">{"".join(figures)}</div>'


def _newest(folder: RunFolder) -> GameRecord | None:
    """Returns the last game of the newest collection that can be read; None if there is none."""
    for path in sorted(folder.records.glob("*.sgf"), reverse=True):
        try:
            games = [game for game in read_sgf_games(path) if isinstance(game, GameRecord)]
        except (OSError, UserError):
            continue
        if games:
            return games[-1]
    return None
