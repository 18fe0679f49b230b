"""Openings of a match: a few moves played before the engines choose their own, so that no game repeats another."""

import logging
import random
import threading
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path

from ..base.errors import UserError
from ..base.files import files_with
from ..base.messages import plural
from ..go import symmetry
from ..go.coords import PASS, point_at
from ..go.game import Game, Move
from ..go.sgf import RECORD_SUFFIXES, SgfError, read_sgf_games
from .match_settings import MatchSettings

logger = logging.getLogger(__name__)

Opening = tuple[Move, ...]

# Attempts to find a new opening; when all fail, the board has hardly any left.
TRIES = 200


def random_openings(width: int, height: int, moves: int, seed: int) -> Iterator[Opening]:
    """Yields openings without end: random legal moves away from the edge, Black first.

    No position is repeated, not even in another symmetry: when the board has no more of them, later ones are longer. On
    9x9 there are 85 of two moves. Only empty openings, and those of tiny boards, are repeated. The same seed yields the
    same ones.
    """
    generator = random.Random(f"openings {seed}")
    # From the third line on; on smaller boards those inside the first line, or all points.
    edge = 2 if min(width, height) >= 7 else 1 if min(width, height) >= 4 else 0
    inner = [point_at(x, y, width) for y in range(edge, height - edge) for x in range(edge, width - edge)]
    seen: set[tuple[tuple[int, ...], ...]] = set()
    while True:
        for _ in range(TRIES):
            opening = _random_opening(width, height, moves, inner, generator)
            key = _canonical(opening, width, height)
            if key not in seen:
                break
        else:
            moves += 1 if 0 < moves < len(inner) // 2 else 0
            seen.clear()
            continue
        seen.add(key)
        yield opening


def sgf_openings(source: Path, width: int, height: int, moves: int) -> list[Opening]:
    """Returns the first moves of each game in an SGF file, or in all SGF files of a folder, without repetitions.

    Games of another size, from a set-up position, with fewer moves or with passes among the first moves are skipped.
    Games that cannot be read are skipped too, and logged. Raises UserError if no game is suitable, with the reason why
    the first unreadable one cannot be read, and OSError if a file cannot be opened.
    """
    files = files_with(RECORD_SUFFIXES, source, subfolders=True) if source.is_dir() else [source]
    errors: list[SgfError] = []
    games = (game for file in files for game in _games_of(file, moves, errors))
    openings = list(dict.fromkeys(tuple(game.moves) for game in games if _fits(game, width, height, moves)))
    for error in errors if openings else errors[1:]:
        logger.warning(f"no opening from {error}")
    if not openings:
        wanted = f"{width}x{height} game from the empty board with {plural(moves, 'move')} without a pass"
        reason = f" ({errors[0]})" if errors else ""
        raise UserError(f"{source}: no {wanted}{reason}")
    return openings


def _games_of(file: Path, moves: int, errors: list[SgfError]) -> Iterator[Game]:
    """Yields the games of a file after `moves` moves; adds the errors of those that cannot be read to `errors`."""
    try:
        for record in read_sgf_games(file, on_error=errors.append):
            if len(record.moves) < moves:
                continue
            try:
                yield record.to_game(moves)
            except SgfError as error:
                errors.append(error)
    except SgfError as error:  # the whole file, such as an archive
        errors.append(error)


def _fits(game: Game, width: int, height: int, moves: int) -> bool:
    is_whole = (game.width, game.height, len(game.moves)) == (width, height, moves)
    return is_whole and not game.setup_stones and all(move.point != PASS for move in game.moves)


class Openings:
    """The openings of a match by number, from a source without end. Each is found when it is first asked for.

    Any thread may ask.
    """

    def __init__(self, source: Iterable[Opening]) -> None:
        self._source = iter(source)
        self._found: list[Opening] = []
        self._lock = threading.Lock()

    def __getitem__(self, number: int) -> Opening:
        with self._lock:
            while len(self._found) <= number:
                self._found.append(next(self._source))
            return self._found[number]


def choose_openings(settings: MatchSettings) -> Openings:
    """Returns the openings of a match; opening `n` is for the games 2n and 2n+1.

    Those of files are repeated if there are too few, with a warning. UserError if no game of them is suitable.
    """
    source, moves, pairs = settings.openings, settings.opening_moves, -(-settings.games // 2)
    board = settings.empty_game()
    if source is None:
        return Openings(random_openings(board.width, board.height, moves, settings.seed))
    found = sgf_openings(source, board.width, board.height, moves)
    if len(found) < pairs:
        logger.warning(
            f"{source}: {plural(len(found), 'opening')} of {plural(moves, 'move')} for {pairs} pairs of games: they "
            "are repeated; longer ones may differ more often"
        )
    return Openings(cycle(found))


def _random_opening(width: int, height: int, moves: int, inner: list[int], generator: random.Random) -> Opening:
    game = Game(width, height)
    for _ in range(moves):
        shuffled = generator.sample(inner, len(inner))
        point = next((point for point in shuffled if game.is_legal(point)), None)
        if point is not None:
            game.play(game.to_move, point)
    return tuple(game.moves)


def _canonical(opening: Opening, width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """Returns the smallest of the symmetric forms of an opening's position: a key that all of them share."""
    symmetries = range(symmetry.COUNT if width == height else symmetry.TRANSPOSE)  # others exchange width and height
    players = [[move.point for move in opening[first::2]] for first in (0, 1)]

    def turned(points: list[int], number: int) -> tuple[int, ...]:
        return tuple(sorted(symmetry.transform_point(point, number, width, height) for point in points))

    return min(tuple(turned(points, number) for points in players) for number in symmetries)
