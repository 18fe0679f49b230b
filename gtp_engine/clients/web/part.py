"""A part of a session: what pages may ask for about one subject, and what they see of it.

Pages send small JSON objects with a `type`; each value is checked before anything is done with it.
"""

import base64
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...base.errors import EXPECTED, UserError, answer_text
from ...base.fields import Range, invalid, parse_number
from ...base.languages.texts import Phrase
from ...go.coords import PASS
from ...go.drawing import Candidate
from ...go.game import Game
from ...go.sgf import TreeNode

if TYPE_CHECKING:
    import numpy as np

    from .session import Session

Document = dict[str, Any]
Message = Mapping[str, Any]

MOST_NODES = 10**9  # more than there are nodes or trees
# The page offers less; the bound only keeps a wrong message from starting a search of a week.
_VISITS = Range(1, 1_000_000, whole=True)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Drawn:
    """What is drawn on the board besides stones and marks.

    Attributes:
        labels: Texts by point.
        candidates: Moves to consider.
        ownership: float [height, width] in -1..1, + for Black; None for none.
    """

    labels: Mapping[int, str] = field(default_factory=dict)
    candidates: Sequence[Candidate] = ()
    ownership: "np.ndarray | None" = None


class Part:
    """A part of a session. A message of type `stop-review` is for the method `on_stop_review` of the part that has it.

    Attributes:
        session: The session.
        methods: What is done for each type of message.
        problem: What has gone wrong, in one line, although the engine can go on; None if nothing.
    """

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.problem: str | None = None
        names = (name for name in dir(self) if name.startswith("on_"))
        self.methods: dict[str, Callable[[Message], Document | None]] = {
            name.removeprefix("on_").replace("_", "-"): getattr(self, name) for name in names
        }
        session.parts.append(self)

    @property
    def is_studying(self) -> bool:
        """Whether it has people study the game instead of playing it, so that their clock stands."""
        return False

    def state(self) -> Document:
        """Returns what pages see of it."""
        return {}

    def drawn(self) -> Drawn:
        """Returns what it adds to the drawing of the position."""
        return Drawn()

    def forget_task(self) -> None:
        """Follows that the engine's task was ended, or that the game has changed."""

    def forget_game(self) -> None:
        """Follows that another game has taken the place of the one before."""

    def close(self) -> None:
        """Follows that the program ends."""

    def node_of(self, message: Message) -> TreeNode:
        """Returns the node that a message is about, by its `tree` and its `node`.

        Raises:
            UserError: It is in another game, or has been deleted.
        """
        if whole_number(message, "tree", 0, MOST_NODES) != self.session.tree_number:
            raise UserError("another game is shown now")
        return self.session.played.tree.node(whole_number(message, "node", 0, MOST_NODES))

    def check_shown(self, message: Message) -> None:
        """Raises UserError if the page showed another position when it sent the message.

        The engine, or another page, may have changed what is shown meanwhile.
        """
        if self.node_of(message) is not self.session.node:
            raise UserError("another position is shown now")

    def loss_label(self, point: int, points: float) -> dict[int, str]:
        """Returns what is drawn on the stone of a move that has lost points, if it stands in the position shown."""
        stands = point != PASS and self.session.position().stone_at(point)
        return {point: f"{points:.0f}"} if stands else {}


def rows_of(game: Game) -> list[str]:
    """Returns the stones of a position as pages read them: "." for none, "X" for Black's and "O" for White's."""
    return ["".join(".XO"[stone] for stone in row) for row in game.stones()]


def line_shown(game: Game, line: Sequence[int]) -> Document:
    """Returns a position with a line from there on, as numbered stones."""
    after, labels = game.copy(), dict[str, str]()
    for number, point in enumerate(line, 1):
        after.play(after.to_move, point)
        if point != PASS:
            labels.setdefault(game.vertex(point), str(number))
    return {"stones": rows_of(after), "drawn": {"labels": labels}}


def phrase_parts(phrase: Phrase) -> Document:
    """Returns a phrase as the page's `text` takes it, to be said in the page's language."""
    values = {key: phrase_parts(value) if isinstance(value, Phrase) else value for key, value in phrase.values.items()}
    return {"name": phrase.name, "values": values}


def in_words(error: BaseException) -> str:
    """Returns an error in one line; one that nobody expected is logged with its traceback too."""
    if not isinstance(error, EXPECTED):
        logger.error("a search failed", exc_info=error)
    return answer_text(error)


# Messages. All of these raise UserError for what is missing, something else, or out of range.


def parse_message(text: str | bytes) -> Document:
    """Returns the object that a page has sent; it has a text as its `type`."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError("invalid message: it is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise UserError("invalid message: expected an object with a type")
    return message


def text_of(message: Message, name: str) -> str:
    """Returns a text of a message."""
    value = message.get(name)
    if not isinstance(value, str):
        raise invalid(name, value, "text")
    return value


def bytes_of(message: Message, name: str) -> bytes:
    """Returns the bytes that a message has as base64."""
    value = text_of(message, name)
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise invalid(name, value, "base64") from None


def whole_number(message: Message, name: str, low: int, high: int) -> int:
    """Returns a whole number of a message."""
    return int(parse_number(name, message.get(name), Range(low, high, whole=True), from_text=False))


def visits_of(message: Message) -> int | None:
    """Returns the number of visits of a message; None if it has none."""
    value = message.get("visits")
    return None if value is None else int(parse_number("number of visits", value, _VISITS, from_text=False))
