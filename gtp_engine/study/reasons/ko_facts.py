"""The facts about kos: who takes one, who ends it, and threats that cost more than they bring. The rules show them."""

from collections.abc import Iterator

from ...go.coords import PASS
from ...go.game import Game
from ...go.regions import chain_at
from .variation import Fact, Study


def find_ko(study: Study) -> Iterator[Fact]:
    """Yields that the better move takes a ko ("koTaken") or ends one ("koEnded"), or that the move played is a threat.

    A threat is one while the player may not take back: the opponent answers it ("koThreat"), or ends the ko
    ("koIgnored").
    """
    if study.best != PASS and (taken := _ko_of(study.better.games[1])) != PASS:
        yield Fact("koTaken", study.better.line, frozenset((study.best, taken)))
    yield from _ended(study)
    yield from _threat(study)


def _ko_of(game: Game) -> int:
    """Returns the point that the player to move may not retake; PASS if there is none."""
    return int(game.board["ko_point"][0])


def _ended(study: Study) -> Iterator[Fact]:
    line = study.played.line
    taken = _ko_of(study.played.games[2]) if len(line) > 1 else PASS
    joined = chain_at(study.better.games[1].board[0], study.best) if taken != PASS and line[1] == study.best else None
    if joined is not None and taken in joined.stones and len(joined.liberties) > 1:
        yield Fact("koEnded", line[:2], frozenset((study.best, taken)))


def _threat(study: Study) -> Iterator[Fact]:
    ko, line = _ko_of(study.game), study.played.line
    if ko == PASS or PASS in line[:2] or len(line) < 2:
        return
    if line[1] == ko:
        chain = chain_at(study.played.games[2].board[0], ko)
        if chain is not None and len(chain.liberties) > 1:
            yield Fact("koIgnored", line[:2], frozenset((ko,)), {"ko": study.game.vertex(ko)})
    elif line[2:3] == (ko,) and _ko_of(study.played.games[3]) != PASS:
        values = {"answer": study.game.vertex(line[1]), "ko": study.game.vertex(ko)}
        yield Fact("koThreat", line[:3], frozenset((ko,)), values)
