"""Sessions with an engine that knows nothing, and the calls that wait for their thread."""

import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.clients.web.server import new_session
from gtp_engine.clients.web.session import Reading
from gtp_engine.clients.web.studying import Searches
from gtp_engine.engine.engine import Engine, EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.table.played_game import PlayedGame
from gtp_engine.table.player_rating import KeptRating
from gtp_engine.table.rated_games import RatedGames

_WITH_POSITION = ("play", "resign", "branch", "comment", "mark", "stone", "turn", "delete", "promote", "keep")
LIMIT = 120  # seconds; the core may have to be compiled

# Messages that begin a game, on an empty board and from a position, and a record.
NEW: dict[str, Any] = {"width": 7, "height": 7, "colour": "white", "rank": "20k", "seconds": None, "visits": 4}
FROM_HERE: dict[str, Any] = {"colour": "black", "rank": "max", "seconds": None, "visits": 8}
NEW |= {"handicap": 0, "komi": None, "rules": "japanese"}
RECORD = "(;GM[1]SZ[9]KM[5.5]RU[Japanese]PB[Ann]PW[Ben]RE[W+R]C[the start];B[ee];W[cc]C[well played];B[gc])"


def flat(documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Returns the values of all documents by their names; those of some parts together, by the name of the part."""
    values = {name: value for document in documents.values() for name, value in document.items()}
    others = {"rating": documents.get("rating"), "graph": documents["graph"]["svg"], "review": values["job"]}
    others["problems"] = values["collection"]
    return values | others


class Desk:
    """A session whose calls wait until a test lets them run."""

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        humans: frozenset[int] = frozenset((BLACK,)),
        rating: KeptRating | None = None,
    ) -> None:
        self.calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.published: list[dict[str, Any]] = []
        self.engine = engine
        self.played = PlayedGame(engine, humans=humans, folder=folder, has_clock=True)
        rated = RatedGames(self.played, rating) if rating else None
        self._documents: dict[str, dict[str, Any]] = {}
        self.made: list[set[str]] = []  # the names of those that were made anew each time
        self.session = new_session(self.played, self._publish, self.calls.put, rated)
        (self.searches,) = (part for part in self.session.parts if isinstance(part, Searches))
        self.values = self.searches.values

    def _publish(self, documents: dict[str, dict[str, Any]]) -> None:
        """Notes the state; documents that were not made anew have to be as they would be then."""
        self._documents |= documents
        self.made.append({*documents})
        self.published.append(flat(self._documents))
        if hasattr(self, "session"):
            for part in self.session.parts:
                assert part.name == "solving" or self._documents[part.name] == part.document(), part.name

    def fresh(self) -> dict[str, Any]:
        """Returns what a page that is opened now would show."""
        documents = {part.name: part.document() for part in self.session.parts}
        return flat(documents | {"now": self.session.now()})

    def send(self, kind: str, **values: Any) -> dict[str, Any] | None:
        if kind in _WITH_POSITION or "node" in values:
            values = {"node": self.session.node.number, "tree": self.session.tree_number} | values
        try:
            return self.receive({"type": kind, **values})
        finally:
            self.session.save_changes()

    def receive(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Has a message answered, with what it needs read at once."""
        answer = self.session.receive(message)
        return answer.then(answer.read()) if isinstance(answer, Reading) else answer

    def refuse(self, problem: str, kind: str, **values: Any) -> None:
        """Sends a message that is refused by a text in which the pattern is found."""
        with pytest.raises(UserError, match=problem):
            self.send(kind, **values)

    def play(self, point: str) -> None:
        self.send("play", point=point)

    def play_and_wait(self, point: str) -> None:
        """Plays a move, and waits for the engine's."""
        self.play(point)
        self.wait()

    def wait(self, condition: Callable[[], object] | None = None) -> None:
        """Runs what waits until the engine has nothing to do, or the condition holds."""
        deadline = time.monotonic() + LIMIT
        while not (condition() if condition else self.session.task is None):
            self.calls.get(timeout=max(0.01, deadline - time.monotonic()))()
        self.session.save_changes()

    @property
    def state(self) -> dict[str, Any]:
        """What the pages show."""
        return self.published[-1]

    def begin_to_think(self, point: str) -> None:
        """Plays a move that the engine would think about for a minute."""
        self.engine.settings = EngineSettings(network="uniform", threads=1, seconds=60.0)
        self.session.touch(*self.session.parts)
        self.play(point)

    def saved(self) -> Path:
        """Returns the only file in the folder."""
        (file,) = self.played.folder.glob("*.sgf")
        return file

    @property
    def vertices(self) -> list[str]:
        game = self.played.game
        return [game.vertex(move.point) for move in game.moves]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder."""
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def engine() -> Iterator[Engine]:
    settings = EngineSettings(network="uniform", threads=1, seed=1, visits=8)
    with Engine(settings, width=5) as engine:
        yield engine


@pytest.fixture
def desk(engine: Engine, tmp_path: Path) -> Desk:
    """A game of Black against the engine."""
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    return desk


@pytest.fixture
def pair(engine: Engine, tmp_path: Path) -> Desk:
    """A game of two people."""
    return Desk(engine, tmp_path, frozenset((BLACK, WHITE)))
