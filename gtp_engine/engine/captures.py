"""How the dead stones of a finished game would be captured, for players who do not see why they are dead."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..base.languages.texts import texts
from ..go.coords import PASS, colour_name, opponent
from ..go.game import Game, Move
from ..go.regions import chains_of
from ..search.request import Limits, RootMoves, SearchRequest
from .decision import capturing_moves
from .rank_play import ways_out
from .worker import SearchWorker

# Chosen by judgement: the visits of the search for each move, and the moves after which a line is given up.
_VISITS, _MOST_MOVES = 16, 24


@dataclass(frozen=True)
class Capture:
    """A line of play that captures a dead chain.

    Attributes:
        stones: The points of the chain.
        moves: The opponent's first move to the one that captures, without passes; empty if no such line was found.
    """

    stones: frozenset[int]
    moves: tuple[Move, ...]

    def in_words(self, game: Game) -> str:
        """Returns the line in English."""
        text, stones = texts(), " ".join(sorted(map(game.vertex, self.stones)))
        moves = [text("plays", colour=text(colour_name(each.colour)), move=game.vertex(each)) for each in self.moves]
        return text("count.line", stones=stones, moves=", ".join(moves) or text("count.noLine"))


def find_captures(worker: SearchWorker, request: SearchRequest, dead: Iterable[int]) -> list[Capture]:
    """Plays the capture of each dead chain, its opponent first; every line ends with the chain off the board.

    Both players choose by short searches, the opponent among the moves that capture the chain or prepare that, its
    owner among those that may save it, or a pass.

    Args:
        worker: Searches.
        request: The finished game, and the event that ends this early.
        dead: The points of the dead stones.
    """
    removed = frozenset(dead)
    chains = (chain.stones for chain in chains_of(request.game.board[0]) if chain.stones <= removed)
    return [Capture(stones, _line(worker, request, stones)) for stones in chains]


def _line(worker: SearchWorker, request: SearchRequest, stones: frozenset[int]) -> tuple[Move, ...]:
    """Returns the moves that capture the chain of these stones; none if it is not captured soon."""
    game = request.game.copy()
    owner = game.stone_at(min(stones))
    game.to_move = owner
    game.to_move = opponent(owner)  # begins a history, without the passes
    line = list[Move]()
    for _ in range(_MOST_MOVES):
        left = {chain for stone in stones if (chain := game.chain(stone)) and chain.colour == owner}
        if not left:
            return tuple(line)
        if game.to_move == owner:
            points = frozenset({PASS}).union(*(ways_out(game.board[0], chain) for chain in left))
        else:
            points = capturing_moves(game, frozenset().union(*(chain.stones for chain in left)))
        point = _best(worker, request, game, frozenset(filter(game.is_legal, points)))
        if point != PASS:
            line.append(Move(game.to_move, point))
        game.play(game.to_move, point)
    return ()


def _best(worker: SearchWorker, request: SearchRequest, game: Game, points: frozenset[int]) -> int:
    """Returns the best of these moves by a short search; a pass if there are none, or the request was stopped."""
    if request.is_stopped or not points - {PASS}:
        return PASS
    if len(points) == 1:
        return min(points)
    allowed = RootMoves(allow=tuple((game.to_move, point, 1) for point in sorted(points)))
    visits = _VISITS * worker.evaluator_on(game.width, game.height).least_visits
    report = worker.look(replace(request, game=game, root_moves=allowed, limits=Limits(visits)))
    return report.moves[0].point if report.moves else PASS
