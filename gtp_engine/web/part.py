"""What the parts of a session have in common."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session import Session

Message = Mapping[str, Any]
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
