"""Recorded games and problems that the board has to accept: 180,000 games replayed, 2,000 problems set up."""

import json
import re
import zipfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gtp_engine.base.jit import njit
from gtp_engine.go.board import clear, is_legal_but_superko, new_board, place, play
from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_colour, parse_sgf_point
from gtp_engine.go.game import Game

SIZE = re.compile(rb"SZ\[(\d+)\]")
SETUP = re.compile(rb"A([BW])((?:\[..\])+)")
SETUP_STONE = 4  # added to the colour of a stone that is set up
LETTERS = "abcdefghijklmnopqrstuvwxy"
NO_POINT = -1


def read_games(file: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Every stone of an archive as (point, colour), where each game begins, the sizes, and the games' names."""
    parts, starts, sizes, names = [], [np.zeros(1, np.int64)], [], []
    with zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            text = archive.read(member)
            lines = text.splitlines(keepends=True)
            begins = np.cumsum([0, *map(len, lines)])
            size_of = np.array([int(SIZE.search(line)[1]) for line in lines])  # type: ignore[index]
            at, letters, colours = stones_in(text)
            points = point_table()[size_of[np.searchsorted(begins, at, "right") - 1], letters[:, 0], letters[:, 1]]
            assert (points != NO_POINT).all()
            parts.append(np.stack([points, colours], axis=1))
            starts.append(starts[-1][-1] + np.searchsorted(at, begins[1:]))
            sizes.append(size_of)
            names += [f"{member}:{number}" for number in range(1, len(lines) + 1)]
    return np.concatenate(parts), np.concatenate(starts), np.concatenate(sizes), names


def stones_in(text: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a stone or a pass is in records, the numbers of its two letters, and its colour."""
    codes = np.frombuffer(text, np.uint8)
    at = np.flatnonzero(codes == ord(";"))
    at = at[at + 5 < len(codes)]
    at = at[np.isin(codes[at + 1], (ord("B"), ord("W"))) & (codes[at + 2] == ord("["))]
    assert (codes[np.where(codes[at + 3] == ord("]"), at + 3, at + 5)] == ord("]")).all()
    colours = np.where(codes[at + 1] == ord("B"), BLACK, WHITE)
    set_up = [
        (place, SETUP_STONE + parse_colour(found[1].decode()))
        for found in SETUP.finditer(text)
        for place in range(found.start(2) - 2, found.end(2) - 2, 4)
    ]
    if set_up:
        places, their_colours = np.array(set_up).T
        at, colours = np.concatenate([at, places]), np.concatenate([colours, their_colours])
        order = np.argsort(at)
        at, colours = at[order], colours[order]
    letters = codes[at[:, None] + (3, 4)].astype(np.int64) - ord(LETTERS[0])
    letters[codes[at + 3] == ord("]")] = len(LETTERS)
    return at, letters, colours


@cache
def point_table() -> np.ndarray:
    """The points by the size of the board and the numbers of two letters; behind the letters is a pass."""
    table = np.full((len(LETTERS) + 1,) * 3, NO_POINT, np.int16)
    for size, (x, first), (y, second) in product(range(1, 26), enumerate(LETTERS), enumerate(LETTERS)):
        if max(x, y) < size:
            table[size, x, y] = parse_sgf_point(first + second, size, size)
    table[:, -1, -1] = PASS
    return table


@njit
def first_illegal(stones: np.ndarray, starts: np.ndarray, sizes: np.ndarray, board: np.ndarray) -> tuple[int, int]:
    """The game and the move that the board refuses, (-1, number of moves) where it refuses none."""
    moves = 0
    for game in range(len(sizes)):
        clear(board, sizes[game], sizes[game])
        for index in range(starts[game], starts[game + 1]):
            point, colour = stones[index]
            if colour > SETUP_STONE:
                if board["stones"][point] != 0:
                    return game, index - starts[game]
                place(board, point, colour - SETUP_STONE, None)
                continue
            board["to_move"] = colour
            if not is_legal_but_superko(board, point):
                return game, index - starts[game]
            play(board, point)
            moves += 1
    return -1, moves


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "games", "moves"),
    [("small9.zip", 1344, 80_000), ("pro19.zip", 85_120, 17_000_000), ("dan19.zip", 93_783, 19_000_000)],
)
def test_every_recorded_game_is_legal(shared: Path, name: str, games: int, moves: int) -> None:
    stones, starts, sizes, names = read_games(shared / "games" / name)
    assert len(names) == games
    game, count = first_illegal(stones, starts, sizes, new_board(9, 9)[0])
    assert game == -1, f"{names[game]} stone {count}"
    assert count > moves


@pytest.mark.parametrize("name", ["tsumego.jsonl", "ggg.jsonl"])
def test_problems_and_their_answers_are_accepted(shared: Path, name: str) -> None:
    count = 0
    for line in (shared / "games" / "tsumego" / name).read_text().splitlines():
        problem = json.loads(line)
        size = problem["size"]
        game = Game(size)
        black, white, answers = (
            [parse_sgf_point(point, size, size) for point in problem[key]] for key in ("AB", "AW", "answers")
        )
        game.set_up(black, white, parse_colour(problem["to_play"]))
        assert len(black) + len(white) == np.count_nonzero(game.stones()), problem["id"]
        assert answers and all(game.is_legal(point) for point in answers), problem["id"]
        count += 1
    assert count > 50
