"""Guess the move: the page shows a game without its next move, and the user looks for it."""

from dataclasses import dataclass
from typing import Any

from ...base.errors import UserError
from ...base.fields import parse_word
from ...go.coords import BLACK, WHITE, colour_name
from ...go.game import Move
from ...go.sgf import TreeNode
from ...table.played_game import check_move
from .searches import Searches
from .session import Message, Part, Session

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


class Guessing(Part):
    """Guessing the moves of one player, or of both.

    Attributes:
        colour: Whose moves are guessed, "both", "black" or "white"; None while nobody guesses.
        guesses: What has been guessed so far.
    """

    def __init__(self, session: Session, searches: Searches) -> None:
        super().__init__(session)
        self.searches = searches
        self.colour: str | None = None
        self.guesses: list[Guess] = []

    @property
    def is_on(self) -> bool:
        """Whether clicks are guesses."""
        return self.colour is not None

    def on_guess(self, message: Message) -> None:
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
        self.colour, self.guesses, self.searches.is_guessing = colour, [], True
        self.searches.end_analysis()
        session.look_at(node)

    def end(self) -> None:
        """Ends guessing; the count stays until the next one."""
        self.colour, self.searches.is_guessing = None, False

    def forget_game(self) -> None:
        self.end()
        self.guesses = []

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
        session.position(target)  # as in `on_guess`
        value = session.values.get(session.node)
        losses = {} if value is None else value.losses
        guessed, played = game.vertex(point), game.vertex(move.point)
        self.guesses.append(Guess(guessed, played, losses.get(guessed), losses.get(played)))
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

    def state(self) -> dict[str, Any]:
        guesses = self.guesses
        if not self.is_on and not guesses:
            return {"guess": None}
        losses = [guess.lost for guess in guesses if guess.lost is not None]
        guess: dict[str, Any] = {
            "colour": self.colour,
            "tried": len(guesses),
            "right": sum(guess.guessed == guess.played for guess in guesses),
            "judged": len(losses),
            "lost": round(sum(losses), 1),
            "last": None,
        }
        if guesses:
            last = guesses[-1]
            lost = {"lost": _rounded(last.lost), "playedLost": _rounded(last.played_lost)}
            guess["last"] = {"guessed": last.guessed, "played": last.played, **lost}
        return {"guess": guess}


def _next_to_guess(node: TreeNode, colours: tuple[int, ...]) -> TreeNode | None:
    """Returns the first position from a node on after which a player of these colours moves; None if there is none."""
    while node.next is not None:
        if node.next.move is not None and node.next.move.colour in colours:
            return node
        node = node.next
    return None


def _rounded(points: float | None) -> float | None:
    return None if points is None else round(points, 1)
