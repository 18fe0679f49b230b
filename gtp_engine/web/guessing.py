"""Guess the move: the page shows a game without its next move, and the user looks for it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..base.fields import parse_word
from ..game.coords import BLACK, WHITE, colour_name
from ..game.game import Move
from ..play.played_game import check_move
from ..sgf import TreeNode
from .part import Message, Part

if TYPE_CHECKING:
    from .session import Session

_COLOURS = {"both": (BLACK, WHITE), "black": (BLACK,), "white": (WHITE,)}


@dataclass(frozen=True)
class Guess:
    """A move that the user has tried.

    Attributes:
        guessed: Its vertex.
        played: The vertex of the game's move.
        lost: The points that it loses against the engine's best move; None if the engine has not looked at it.
        played_lost: The points that the game's move loses, likewise.
    """

    guessed: str
    played: str
    lost: float | None
    played_lost: float | None

    @property
    def is_right(self) -> bool:
        """Whether it is the game's move."""
        return self.guessed == self.played


@dataclass(frozen=True)
class Score:
    """What has been guessed so far.

    Attributes:
        tried: The number of guesses.
        right: How many of them were the game's move.
        judged: How many of them the engine had looked at.
        lost: The points that these have lost together.
    """

    tried: int = 0
    right: int = 0
    judged: int = 0
    lost: float = 0.0

    def with_guess(self, guess: Guess) -> "Score":
        """Returns the score with one more guess."""
        more = replace(self, tried=self.tried + 1, right=self.right + guess.is_right)
        if guess.lost is None:
            return more
        return replace(more, judged=self.judged + 1, lost=self.lost + guess.lost)


class Guessing(Part):
    """Guessing the moves of one player, or of both.

    Attributes:
        colour: Whose moves are guessed, "both", "black" or "white"; None while nobody guesses.
        score: What has been guessed so far.
        last: The last guess; None if there is none.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.colour: str | None = None
        self.score = Score()
        self.last: Guess | None = None
        self.methods = {"guess": self._choose}

    @property
    def is_on(self) -> bool:
        """Whether clicks are guesses."""
        return self.colour is not None

    def _choose(self, message: Message) -> None:
        """Begins to guess from the position that is shown, or ends that."""
        session = self.session
        if message.get("colour") is None:
            self.end()
            session.publish()
            return
        if not session.played.is_study:
            raise UserError("open a game to guess its moves")
        colour = parse_word("colour", message.get("colour"), _COLOURS)
        node = _next_to_guess(session.node, _COLOURS[colour])
        if node is None:
            whose = "" if colour == "both" else f" of {colour.capitalize()}"
            raise UserError(f"no move{whose} follows here: go to an earlier position to guess the moves")
        session.position(node)  # an illegal move on the way there is refused before anything changes
        self.colour, self.score, self.last = colour, Score(), None
        session.searches.end_analysis()
        session.look_at(node)

    def end(self) -> None:
        """Ends guessing; the count stays until the next one."""
        self.colour = None

    def forget(self) -> None:
        """Ends guessing in a game that another one replaces."""
        self.colour, self.score, self.last = None, Score(), None

    def guess(self, point: int) -> None:
        """Compares a move with the game's, and shows the next position to guess in; after the last one guessing ends.

        Raises:
            UserError: The move is illegal, there is none to guess here (`_next_move`), or the next position to show has
                an illegal move.
        """
        session, colours = self.session, _COLOURS[self.colour or "both"]
        game = session.position()
        following, move = self._next_move(colours)
        check_move(game, point)
        upcoming = _next_to_guess(following, colours)
        target = upcoming or session.line[-1]
        session.position(target)  # as in `_choose`
        value = session.values.get(session.node)
        losses = {} if value is None else value.losses
        guessed, played = game.vertex(point), game.vertex(move.point)
        self.last = Guess(guessed, played, losses.get(guessed), losses.get(played))
        self.score = self.score.with_guess(self.last)
        if upcoming is None:
            self.end()
        session.look_at(target)

    def _next_move(self, colours: tuple[int, ...]) -> tuple[TreeNode, Move]:
        """Returns the node of the game's next move, which may come after comments or empty nodes, and the move.

        Raises:
            UserError: The game ends here, stones are set up or the turn changes before the move, or it is not of these
                colours.
        """
        shown = self.session.node
        before = _next_to_guess(shown, _COLOURS["both"])
        following = None if before is None else before.next
        if before is None or following is None or following.move is None:
            raise UserError("the game ends here: there is no move to guess")
        if before.first_with_position is not shown.first_with_position:
            raise UserError("the position changes before the next move: go to the next position")
        if following.move.colour not in colours:
            whose, guessed = (colour_name(colour).capitalize() for colour in (following.move.colour, *colours))
            raise UserError(
                f"the next move is {whose}'s, but you are guessing those of {guessed}: go to the next position"
            )
        return following, following.move

    def state(self) -> dict[str, Any] | None:
        """Returns what the page shows of it; None if nothing has been guessed."""
        if not self.is_on and not self.score.tried:
            return None
        last = self.last and {
            "guessed": self.last.guessed,
            "played": self.last.played,
            "lost": _rounded(self.last.lost),
            "playedLost": _rounded(self.last.played_lost),
        }
        score = self.score
        return {
            "colour": self.colour,
            "tried": score.tried,
            "right": score.right,
            "judged": score.judged,
            "lost": round(score.lost, 1),
            "last": last,
        }


def _next_to_guess(node: TreeNode, colours: tuple[int, ...]) -> TreeNode | None:
    """Returns the first position from a node on after which a player of these colours moves; None if there is none."""
    while node.next is not None:
        if node.next.move is not None and node.next.move.colour in colours:
            return node
        node = node.next
    return None


def _rounded(points: float | None) -> float | None:
    return None if points is None else round(points, 1)
