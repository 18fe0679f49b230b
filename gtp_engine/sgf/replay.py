"""Replays the nodes of a record: stones that are set up, and moves."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..game.coords import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, WHITE, all_points
from ..game.game import Game, Move
from ..game.rules import Rules
from .errors import SgfError

if TYPE_CHECKING:
    from .record import GameRecord, RecordNode


def replay(record: "GameRecord", rules: Rules | str | None) -> Iterator[tuple[Game, Move | None]]:
    """Yields the game before each move with the move, and at the end with None; it is the same game each time.

    Args:
        record: The record.
        rules: The rules, or their name; if None the record's, or Chinese if it does not name any.

    Raises:
        SgfError: The board size is not supported, or a set-up or move is impossible.
        UserError: The rules are invalid.
    """
    if not all(MIN_SIZE <= side <= MAX_SIZE for side in (record.width, record.height)):
        expected = f"expected {MIN_SIZE} to {MAX_SIZE} each way"
        raise SgfError(f"{record.source}: cannot play on a board of {record.width}x{record.height}: {expected}")
    rules = rules or record.game_rules() or "chinese"
    game = Game(record.width, record.height, rules=rules, komi=record.komi or 0.0)
    played = 0
    for node in record.nodes:
        if node.move is not None:
            yield game, node.move
        _apply(record, node, game, played)
        played += node.move is not None
    yield game, None


def _apply(record: "GameRecord", node: "RecordNode", game: Game, played: int) -> None:
    """Applies a node to a game in which `played` moves of the record have been played."""
    try:
        if node.has_setup:
            _set_up(node, game, WHITE if record.handicap >= 2 and not played else game.to_move)
        if node.to_move is not None and node.has_setup:
            game.to_move = node.to_move
        if node.move is not None:
            game.play(*node.move)
        # Set before the move, the next player would make it a move out of turn, which forgets ko and passes.
        if node.to_move is not None and not node.has_setup:
            game.to_move = node.to_move
    except UserError as error:
        place = f"move {played + (node.move is not None)}" if played or node.move else "the start"
        raise SgfError(f"{record.source}: {place}: {error}") from error


def _set_up(node: "RecordNode", game: Game, to_move: int) -> None:
    """Begins a new game from the present stones with the node's changes; the prisoners stay."""
    stones = {point: game.stone_at(point) for point in all_points(game.width, game.height)}
    for points, colour in ((node.black, BLACK), (node.white, WHITE), (node.empty, EMPTY)):
        stones.update(dict.fromkeys(points, colour))
    black, white = ([point for point, stone in stones.items() if stone == colour] for colour in (BLACK, WHITE))
    game.set_up(black, white, to_move, keep_captures=True)
