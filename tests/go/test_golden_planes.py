"""Ladders, areas, liberties and kos of the positions that KataGo's own input planes were recorded for."""

from pathlib import Path

import numpy as np
import pytest
from golden_records import Record, position_of, records

from gtp_engine.go.benson import AREA_WORKSPACE, read_area, write_owner
from gtp_engine.go.board import BUTTON_BLACK, BUTTON_WHITE, count_liberties, is_legal_but_superko
from gtp_engine.go.coords import WHITE
from gtp_engine.go.ladders import find_ladders, new_workspace


def recorded(record: Record, plane: int) -> list[int]:
    return record["inputs"]["planes"].get(str(plane), [])


def ones(plane: np.ndarray) -> list[int]:
    return np.flatnonzero(plane).tolist()


def test_liberties_and_kos(shared: Path) -> None:
    count = 0
    for record in records(shared):
        game = position_of(record)
        board = game.board[0]
        points = [(y + 1) * (game.width + 1) + x + 1 for y in range(game.height) for x in range(game.width)]
        stones = game.stones().ravel()
        assert ones(stones == game.to_move) == recorded(record, 1), record["id"]
        assert ones(stones == 3 - game.to_move) == recorded(record, 2), record["id"]
        liberties = [count_liberties(board, p, 4) if board["stones"][p] else 0 for p in points]
        for number in (1, 2, 3):
            assert ones(np.array(liberties) == number) == recorded(record, 2 + number), record["id"]
        simple = [is_legal_but_superko(board, p) or p == board["ko_point"] for p in points]
        assert ones(np.array(simple) & ~game.legal_moves()[:-1]) == recorded(record, 6), record["id"]
        count += 1
    assert count >= 150


def test_komi_with_what_the_rules_add(shared: Path) -> None:
    """Global input 5 under area rules: komi, compensation for handicap stones, the button."""
    count = 0
    for record in records(shared):
        game = position_of(record)
        if game.rules.scoring == "AREA":
            button = {BUTTON_WHITE: 0.5, BUTTON_BLACK: -0.5}.get(game.board["button"][0], 0.0)
            points = game.komi + game.handicap_bonus + button
            whose = 1 if game.to_move == WHITE else -1
            assert record["inputs"]["global"][5] * 20 == pytest.approx(whose * points), record["id"]
            assert game.board["komi"][0] == game.komi + game.handicap_bonus
            count += 1
    assert count > 80


def test_areas(shared: Path) -> None:
    """Planes 18 and 19: empty under territory rules."""
    count = 0
    workspace = np.zeros(1, AREA_WORKSPACE)[0]
    for record in records(shared):
        game = position_of(record)
        owner = np.zeros(game.area, np.int8)
        if game.rules.scoring == "AREA":
            read_area(game.board[0], game.rules.suicide, workspace)
            write_owner(game.board[0], workspace, owner)
        assert ones(owner == game.to_move) == recorded(record, 18), record["id"]
        assert ones(owner == 3 - game.to_move) == recorded(record, 19), record["id"]
        count += 1
    assert count >= 150


def test_ladders(shared: Path) -> None:
    """Planes 14 and 17, and 15 and 16 where two moves are shown."""
    workspace = new_workspace()
    count = 0
    for record in records(shared):
        game = position_of(record)
        caught, working = np.empty((2, game.area), np.bool_)
        find_ladders(game.board[0], workspace, caught, working)
        assert ones(caught) == recorded(record, 14), record["id"]
        assert ones(working) == recorded(record, 17), record["id"]
        shown = sum(bool(recorded(record, plane)) for plane in (9, 10))
        for moves_ago in range(1, shown + 1):
            find_ladders(game.previous_board(moves_ago)[0], workspace, caught, working)
            assert ones(caught) == recorded(record, 14 + moves_ago), record["id"]
        count += 1
    assert count >= 150
