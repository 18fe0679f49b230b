"""What the parts of a session have in common."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..sgf import TreeNode
from .messages import whole_number

if TYPE_CHECKING:
    from .session import Session

Message = Mapping[str, Any]
MOST_NODES = 10**9  # more than there are nodes or trees
Methods = dict[str, Callable[[Message], dict[str, Any] | None]]


class Part:
    """A part of a session: what pages may ask for about one subject.

    Attributes:
        session: The session.
        methods: What is done for each type of message.
    """

    methods: Methods

    def __init__(self, session: "Session") -> None:
        self.session = session

    def node_of(self, message: Message) -> TreeNode:
        """Returns the node that a message is about, by its `tree` and its `node`.

        Raises:
            UserError: It is in another game, or has been deleted.
        """
        session = self.session
        if whole_number(message, "tree", 0, MOST_NODES) != session.tree_number:
            raise UserError("another game is shown now")
        return session.played.tree.node(whole_number(message, "node", 0, MOST_NODES))

    def check_shown(self, message: Message) -> None:
        """Raises UserError if the page showed another position when it sent the message.

        The engine, or another page, may have changed what is shown meanwhile.
        """
        if self.node_of(message) is not self.session.node:
            raise UserError("another position is shown now")
