"""A session with all that pages may ask for."""

from collections.abc import Callable

from ...table.played_game import PlayedGame
from .editing import Editing
from .guessing import Guessing
from .moves import Moves
from .opening import Opening
from .reviewing import Reviewing
from .searches import Searches
from .session import Document, Session


def new_session(
    played: PlayedGame, publish: Callable[[Document], None], call: Callable[[Callable[[], None]], object]
) -> Session:
    """Begins a session; the arguments are those of `Session`."""
    session = Session(played, publish, call)
    searches = Searches(session)
    guessing = Guessing(session, searches)
    Moves(session, searches, guessing)
    Reviewing(session, guessing)
    Editing(session)
    Opening(session)
    session.watch_engine()
    session.go_on()
    return session
