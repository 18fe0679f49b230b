"""Recorded games and problems that the board has to accept: 180,000 games replayed, 2,000 problems set up."""

import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gtp_engine.base.jit import njit
from gtp_engine.go.board import clear, is_legal_but_superko, new_board, play, set_up_stone
from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_colour, parse_sgf_point
from gtp_engine.go.game import Game

SIZE = re.compile(r"SZ\[(\d+)\]")
SETUP = re.compile(r"A([BW])((?:\[..\])+)")
MOVE = re.compile(r";([BW])\[(..)?\]")
STONE = re.compile(r"\[(..)\]")
SETUP_STONE = 4  # added to the colour of a stone that is set up


def read_games(file: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Every stone of an archive as (point, colour), where each game begins, the sizes, and the games' names."""
    parts = []
    starts, sizes, names = [0], [], []
    points: dict[int, dict[str, int]] = {}
    with zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            stones: list[tuple[int, int]] = []
            before = starts[-1]
            for number, line in enumerate(archive.read(member).decode().splitlines(), 1):
                size = int(SIZE.search(line)[1])  # type: ignore[index]
                at = points.setdefault(size, {"": PASS, **point_names(size)})
                root = line[: line.find(";", line.find(";") + 1)]
                for letter, list_of_stones in SETUP.findall(root):
                    colour = parse_colour(letter) + SETUP_STONE
                    stones += [(at[name], colour) for name in STONE.findall(list_of_stones)]
                stones += [(at[name], BLACK if letter == "B" else WHITE) for letter, name in MOVE.findall(line)]
                starts.append(before + len(stones))
                sizes.append(size)
                names.append(f"{member}:{number}")
            parts.append(np.array(stones, np.int16))
    return np.concatenate(parts), np.array(starts), np.array(sizes), names


def point_names(size: int) -> dict[str, int]:
    letters = "abcdefghijklmnopqrstuvwxy"[:size]
    return {x + y: parse_sgf_point(x + y, size, size) for x in letters for y in letters}


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
                set_up_stone(board, point, colour - SETUP_STONE)
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
