"""Shards: what is read is what was written, or an error that names the file."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from making import random_game, sample_game

from gtp_engine.training.data.samples import GameSet, game_set, join, pack
from gtp_engine.training.data.shards import ShardError, read_notes, read_shard, read_shards, write_shard


def searched(seed: int) -> GameSet:
    game = random_game(seed, 5, moves=12)
    policies = [None if number % 3 else (np.array([number, 25]), np.array([0.3, 0.7])) for number in range(12)]
    values = np.linspace(-1, 1, 24).reshape(12, 2)
    weights = np.arange(12) % 2
    ownership = np.ones(25, np.int8)
    extra = {"policies": policies, "values": values, "weights": weights, "ownership": ownership}
    return pack([sample_game(game, seed, **extra)])


def recorded(seed: int) -> GameSet:
    return pack([sample_game(random_game(seed, 7, 4, moves=9), seed)])


def assert_equal(a: GameSet, b: GameSet) -> None:
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other)


def test_round_trip(tmp_path: Path) -> None:
    games = join([searched(1), recorded(2), searched(3)])
    write_shard(games, tmp_path / "a.shard", {"portion": "x"})
    assert_equal(read_shard(tmp_path / "a.shard"), games)
    assert read_notes(tmp_path / "a.shard") == {"portion": "x"}
    assert [file.name for file in tmp_path.iterdir()] == ["a.shard"]


def test_choosing_undoes_joining() -> None:
    parts = [searched(1), recorded(2), searched(3)]
    games = join(parts)
    for number in (0, 2):
        chosen = games.choose(np.arange(3) == number)
        assert_equal(chosen, join([games.choose(np.zeros(3, np.bool_)), parts[number]]))


def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path, games = tmp_path / "a.shard", recorded(1)
    write_shard(games, path)
    good, noticed = path.read_bytes(), 0
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
        try:
            assert_equal(read_shard(path), games)  # the byte is part of a date, for example
        except ShardError as error:
            assert str(error).startswith((f"{path}: a damaged shard (", f"{path}: not a shard, or cut short"))
            noticed += 1
    assert noticed > len(good) / 2
    for length in range(0, len(good), 7):
        path.write_bytes(good[:length])
        for read in (read_shard, read_notes):
            with pytest.raises(ShardError, match="not a shard, or cut short"):
                read(path)


def test_other_files_are_no_shards(tmp_path: Path) -> None:
    path, games = tmp_path / "a.shard", recorded(1)
    for content in (b"", b"no shard", pickle.dumps({}), b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(ShardError, match=r"a\.shard: not a shard, or cut short$"):
            read_shard(path)
    with open(path, "wb") as file:
        np.savez(file, **games.columns())
    with pytest.raises(ShardError, match=r"a\.shard: a damaged shard \(an archive of something else\)$"):
        read_shard(path)


def test_columns_that_do_not_fit_are_refused() -> None:
    games = recorded(1)
    off_board = games.moves.copy()
    off_board[0] = 29
    with pytest.raises(ValueError, match="a move off the board"):
        game_set(**(games.columns() | {"moves": off_board})).check()
    with pytest.raises(ValueError, match="moves has 8 entries, expected 9"):
        game_set(**(games.columns() | {"moves": games.moves[1:]})).check()


def test_damaged_shards_are_named_and_left_out(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.shard" for number in range(3)]
    for number, path in enumerate(paths):
        write_shard(recorded(number), path)
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    errors: list[ShardError] = []
    sets = list(read_shards(paths, errors.append))
    assert [int(games.games["number"][0]) for games in sets] == [0, 2]
    assert len(errors) == 1 and "1.shard" in str(errors[0])
