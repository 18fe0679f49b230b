"""The facts about kos: who takes one, who ends it, and what threats bring. The rules and the line show them."""

from collections.abc import Iterator

from ...go.coords import PASS, opponent
from ...go.game import Game, IllegalMove
from ...go.regions import chain_at
from .variation import Fact, Study, Variation


def find_ko(study: Study) -> Iterator[Fact]:
    """Yields what a move has to do with a ko.

    The better move takes it ("koTaken"), ends it where the opponent could take it ("koEnded"), or is a threat that
    brings it back ("koThreatMade"). The move played takes or ends one that is worth less ("koTakenInstead",
    "koEndedInstead"), or is a threat: the opponent answers it ("koThreat"), or ends the ko ("koIgnored").
    """
    if study.best != PASS:
        if (taken := ko_of(study.better.games[1])) != PASS:
            yield Fact("koTaken", study.better.line, frozenset((study.best, taken)))
        if (taken := _ended(study, study.better, study.played.games[1])) != PASS:
            yield Fact("koEnded", (study.move, study.best), frozenset((study.best, taken)))
        yield from _threat(study, study.better, "koThreatMade")
    if study.move != PASS:
        if study.best != PASS and ko_of(study.played.games[1]) != PASS:
            yield Fact("koTakenInstead", study.better.line, frozenset((study.move,)))
        if study.best != PASS and _ended(study, study.played, study.game) != PASS:
            yield Fact("koEndedInstead", study.better.line, frozenset((study.move,)))
        yield from _threat(study, study.played, "koThreat")


def ko_of(game: Game) -> int:
    """Returns the point that the player to move may not retake; PASS if there is none."""
    return int(game.board["ko_point"][0])


def _ended(study: Study, line: Variation, before: Game) -> int:
    """Returns the stone of the ko that the first move of a line ends; PASS if it ends none.

    Args:
        study: The mistake.
        line: The line.
        before: A position in which the opponent can take the ko where this move is played.
    """
    take = before.copy()
    try:
        take.play(opponent(study.colour), line.line[0])
    except IllegalMove:
        return PASS
    taken, joined = ko_of(take), chain_at(line.games[1].board[0], line.line[0])
    return taken if joined is not None and taken in joined.stones and len(joined.liberties) > 1 else PASS


def _threat(study: Study, variation: Variation, name: str) -> Iterator[Fact]:
    """Yields that a line begins with a threat while the player may not take back."""
    ko, line = ko_of(study.game), variation.line
    if ko == PASS or PASS in line[:2] or len(line) < 2:
        return
    if line[1] == ko and variation is study.played:
        chain = chain_at(variation.games[2].board[0], ko)
        if chain is not None and len(chain.liberties) > 1:
            yield Fact("koIgnored", line[:2], frozenset((ko,)), {"ko": study.game.vertex(ko)})
    elif line[2:3] == (ko,) and ko_of(variation.games[3]) != PASS:
        values = {"answer": study.game.vertex(line[1]), "ko": study.game.vertex(ko)}
        yield Fact(name, line[:3], frozenset((ko,)), values)
