"""The facts about ladders, by the compiled reader; the line of a ladder is played out to its end."""

from collections.abc import Iterator

import numpy as np

from ...go.coords import PASS, index_of_point, opponent
from ...go.game import Game
from ...go.ladders import find_ladders, new_workspace
from ...go.regions import Chain, chain_at, chains_of
from .variation import CHANGED, DOUBTFUL, Claim, Fact, Study, Variation

# Moves after which a ladder that is played out counts as endless: twice the diagonal of the largest board, there and
# back, is less.
_LONGEST_LADDER = 200
# The shortest ladder worth its name: fewer moves are a net or a plain atari, which the captures tell.
_SHORTEST_LADDER = 5


def find_ladder_facts(study: Study) -> Iterator[Fact]:
    """Yields the ladders that speak for the better move or against the one played.

    The better move "catches" the opponent's stones, or the player's are "caught" after the move played; or that one is
    an atari from which the stones "escape", or "runs" with stones that the ladder catches all the same.
    """
    working = [*_caught_by(study, study.better, "catches", study.colour)]
    if len(study.played.line) > 1:
        working += _caught_by(study, study.played, "caught", opponent(study.colour), start=1)
    for ladder in working:
        if study.change(ladder.points) >= CHANGED:
            yield ladder
    yield from _failed_attack(study)
    yield from _failed_run(study)


def _fact(study: Study, name: str, line: tuple[int, ...], chain: Chain) -> Fact:
    """Returns a fact that the reader proves, with whose the stones are by the search.

    It has to agree, since the reader sees no net, no snapback and no sacrifice.
    """
    stones = chain.stones
    claim = Claim(stones, better=DOUBTFUL) if name == "catches" else Claim(stones, played=-DOUBTFUL)
    return Fact(name, line, stones, {"stones": study.stones(stones, chain.colour)}, claim=claim)


def _read(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Returns the stones that ladders catch and the working moves, bool [area] in move-index order."""
    caught, working = np.zeros((2, game.area), np.bool_)
    # New memory each time: reviews on several threads must not share it, and it costs little beside a reading.
    find_ladders(game.board[0], new_workspace(), caught, working)
    return caught, working


def _index(game: Game, point: int) -> int:
    return index_of_point(point, game.width, game.height)


def _caught_by(study: Study, variation: Variation, name: str, attacker: int, start: int = 0) -> Iterator[Fact]:
    """Yields the chains that the move number `start` of a line (from 0) catches, with the ladder played out."""
    game, move = variation.games[start], variation.line[start]
    if move == PASS or game.to_move != attacker:
        return
    caught, working = _read(game)
    if not working[_index(game, move)]:
        return
    for chain in chains_of(game.board[0]):
        is_attacked = chain.colour != attacker and move in chain.liberties and len(chain.liberties) == 2
        stone = min(chain.stones)
        if is_attacked and caught[_index(game, stone)] and _is_agreed(variation, chain, attacker == study.colour):
            line = _ladder_line(game, move, stone)
            if len(line) >= _SHORTEST_LADDER:
                yield _fact(study, name, (*variation.line[:start], *line), chain)


def _is_agreed(variation: Variation, chain: Chain, own: bool) -> bool:
    """Whether the stones belong to the player of the line's first move, or not to it, by the search too."""
    return variation.owned(chain.stones) * (1 if own else -1) >= DOUBTFUL


def _ladder_line(game: Game, move: int, stone: int) -> tuple[int, ...]:
    """Returns the moves of a ladder from the attacker's first one to the capture; empty if it is not caught so.

    The defender extends as long as there is a move that does so, and then passes.
    """
    game = game.copy()
    line = [move]
    game.play(game.to_move, move)
    while len(line) < _LONGEST_LADDER:
        chain = chain_at(game.board[0], stone)
        if chain is None:
            return tuple(line)
        reply = _defence(game, chain) if game.to_move == chain.colour else _attack(game, chain)
        if reply is None or not game.is_legal(reply):
            return ()
        line.append(reply)
        game.play(game.to_move, reply)
    return ()


def _defence(game: Game, chain: Chain) -> int:
    """Returns the move that extends a chain in atari; a pass if there is none."""
    if len(chain.liberties) > 1:
        return PASS
    (liberty,) = chain.liberties
    return liberty if game.is_legal(liberty) else PASS


def _attack(game: Game, chain: Chain) -> int | None:
    """Returns the move that captures a chain or continues the ladder; None if there is none."""
    if len(chain.liberties) == 1:
        return min(chain.liberties)
    working = _read(game)[1]
    return next((point for point in sorted(chain.liberties) if working[_index(game, point)]), None)


def _failed_attack(study: Study) -> Iterator[Fact]:
    """Yields the opponent's chain that the move played puts in atari, and that runs away without a capture."""
    after, line = study.played.games[1], study.played.line
    if len(line) < 2 or line[1] == PASS or study.played.removals()[1]:
        return
    caught = _read(after)[0]
    for chain in chains_of(after.board[0]):
        if chain.colour == study.colour or chain.liberties != {line[1]} or caught[_index(after, min(chain.stones))]:
            continue
        before = chain_at(study.game.board[0], min(chain.stones))
        run = chain_at(study.played.games[2].board[0], line[1])
        if before is None or len(before.liberties) != 2 or run is None or len(run.liberties) != 2:
            continue
        if len(run.stones) > len(chain.stones) + 1:
            continue  # it connects, which answers a plain atari
        if _is_agreed(study.played, chain, own=False):
            yield _fact(study, "escapes", line, chain)


def _failed_run(study: Study) -> Iterator[Fact]:
    """Yields the player's chain in atari that the move played extends, although the ladder catches it."""
    after, move = study.played.games[1], study.move
    for chain in chains_of(study.game.board[0]):
        if move == PASS or chain.colour != study.colour or chain.liberties != {move}:
            continue
        run = chain_at(after.board[0], min(chain.stones))
        if run is None or len(run.liberties) != 2 or not _is_agreed(study.played, run, own=False):
            continue
        working = _read(after)[1]
        for attack in sorted(run.liberties):
            line = _ladder_line(after, attack, move) if working[_index(after, attack)] else ()
            if len(line) >= _SHORTEST_LADDER:
                yield _fact(study, "runs", (move, *line), run)
                break
