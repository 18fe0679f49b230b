"""Openings of a match: a few moves that both engines are given, so that no game repeats another."""

import logging
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ..game.coords import PASS, point_at, xy
from ..game.game import Game, Move
from ..sgf import SgfError, read_sgf_games
from ..wording import counted

Opening = tuple[Move, ...]

# Tries to find an opening that was not there yet; after that the board has hardly any left, and all may come again.
TRIES = 200


def random_openings(width: int, height: int, moves: int, seed: int) -> Iterator[Opening]:
    """Openings without end, always the same ones for a seed: random legal moves away from the edge, black first.

    No opening comes twice, not even turned or mirrored, as long as the board has others.
    """
    generator = random.Random(f"openings {seed}")
    inner = _inner_points(width, height)
    seen: set[tuple[tuple[int, int], ...]] = set()
    while True:
        for _ in range(TRIES):
            opening = _random_opening(width, height, moves, inner, generator)
            key = _canonical(opening, width, height)
            if key not in seen:
                break
        else:
            seen.clear()
        seen.add(key)
        yield opening


def sgf_openings(source: Path, width: int, height: int, moves: int) -> list[Opening]:
    """The first moves of each game in an SGF file, or in all those of a folder, without repetitions.

    Games of another size, from a set-up position, with fewer moves or with passes among the first ones are left out;
    ValueError where none remains. A file that can't be read is an error, in a folder only a warning.
    """
    files = (
        sorted(file for file in source.rglob("*") if file.suffix in (".sgf", ".sgfs")) if source.is_dir() else [source]
    )
    openings: dict[Opening, None] = {}
    for file in files:
        try:
            games = [record.to_game(moves) for record in read_sgf_games(file)]
        except SgfError as error:
            if not source.is_dir():
                raise
            logging.getLogger(__name__).warning("no opening from %s", error)
            continue
        for game in games:
            if _fits(game, width, height, moves):
                openings[tuple(game.moves)] = None
    if not openings:
        wanted = f"{width}x{height} game from the empty board with {counted(moves, 'move')} without a pass"
        raise ValueError(f"{source}: no {wanted}")
    return list(openings)


def _fits(game: Game, width: int, height: int, moves: int) -> bool:
    same_size = (game.width, game.height) == (width, height)
    return (
        same_size
        and not game.setup_stones
        and len(game.moves) == moves
        and all(move.point != PASS for move in game.moves)
    )


def choose_openings(source: Path | None, width: int, height: int, moves: int, seed: int, games: int) -> list[Opening]:
    """The openings of a match, each for two games: from an SGF file or folder, random ones without (by `seed`).

    ValueError where `moves` is negative or no game in `source` fits.
    """
    if moves < 0:
        raise ValueError(f"opening moves must be 0 or more, not {moves}")
    found = sgf_openings(source, width, height, moves) if source else random_openings(width, height, moves, seed)
    return first_openings(found, (games + 1) // 2)


def first_openings(openings: Iterator[Opening] | list[Opening], count: int) -> list[Opening]:
    """The first `count` openings; a list that is too short starts again from its beginning."""
    if isinstance(openings, list):
        return [openings[i % len(openings)] for i in range(count)]
    return list(islice(openings, count))


def _inner_points(width: int, height: int) -> list[int]:
    """The points from the third line on; smaller boards have no use for that and give what is inside the first line."""
    edge = 2 if min(width, height) >= 7 else 1 if min(width, height) >= 4 else 0
    return [point_at(x, y, width) for y in range(edge, height - edge) for x in range(edge, width - edge)]


def _random_opening(width: int, height: int, moves: int, inner: list[int], generator: random.Random) -> Opening:
    game = Game(width, height)
    for _ in range(moves):
        shuffled = generator.sample(inner, len(inner))
        point = next((point for point in shuffled if game.is_legal(point)), None)
        if point is not None:
            game.play(game.to_move, point)
    return tuple(game.moves)


def _canonical(opening: Opening, width: int, height: int) -> tuple[tuple[int, int], ...]:
    """One form for an opening and its turned and mirrored likes."""
    columns_and_rows = [xy(move.point, width) for move in opening]
    variants = []
    for left_right in (False, True):
        for top_down in (False, True):
            turned = [
                (width - 1 - x if left_right else x, height - 1 - y if top_down else y) for x, y in columns_and_rows
            ]
            variants.append(tuple(turned))
            if width == height:
                variants.append(tuple((y, x) for x, y in turned))
    return min(variants)
