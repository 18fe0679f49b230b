"""The download of a stronger network, which begins only when a person presses its button on a page."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from ...base import folders
from ...base.errors import UserError
from ...base.threads import in_background
from ...nets.download import Source, download, listed_size
from ...nets.library import mean_errors, network_name
from ...nets.published import LICENCES, PublishedNetwork, usual_network
from ...search.evaluate.choices import network_on
from .session import Document, Message, Pace, Part, Session, in_words, text_of


class _Stopped(Exception):
    """A page has stopped the download."""


class Loading(Part):
    """What pages see and ask for: the offer of a network where a small one is used, and its download.

    `use` has the engine use a network, by its file.
    """

    def __init__(self, session: Session, use: Callable[[Path], object]) -> None:
        super().__init__(session)
        self._use = use
        self._network = usual_network()
        self._is_here = self._network.find() is not None
        self._progress: tuple[int, int | None] | None = None  # bytes; None while nothing is downloaded
        self._is_stopped = False

    def on_get_network(self, message: Message) -> None:
        """Begins to download the network that a page has offered."""
        if text_of(message, "name") != self._network.name:
            raise UserError("another network is offered now")
        if self._progress is not None:
            raise UserError("the network is being downloaded")
        self._progress, self._is_stopped = (0, None), False
        self.session.other_problem = None
        path = folders.networks_dir() / self._network.file_name
        done = in_background("download", partial(self._load, self._network, path))
        done.add_done_callback(lambda done: self.session.call(partial(self._end, path, done)))
        self.session.publish()

    def on_stop_network(self, _: Message) -> None:
        """Ends the download; what has come is kept, and the next one resumes it."""
        self._is_stopped = True

    def close(self) -> None:
        self._is_stopped = True

    def _load(self, network: PublishedNetwork, path: Path) -> None:
        """Downloads on a thread of its own; every change is made on the session's thread."""
        pace = Pace()

        def watch(done: int, total: int | None) -> None:
            if self._is_stopped:
                raise _Stopped
            if pace.is_due():
                self.session.call(partial(self._show, done, total))

        download(Source(network.url, network.sha256, listed_size(network.megabytes)), path, watch)

    def _show(self, done: int, total: int | None) -> None:
        if self._progress is not None:
            self._progress = done, total or self._progress[1]
            self.session.publish()

    def _end(self, path: Path, done: Future[None]) -> None:
        """Follows the end of a download: the engine uses the network, unless there is none."""
        self._progress, error = None, done.exception()
        if error is None:
            self._is_here = True
            try:
                self._use(path)
            except UserError as problem:
                error = problem
        self.session.other_problem = None if error is None or isinstance(error, _Stopped) else in_words(error)
        self.session.publish()

    def state(self) -> Document:
        engine, network = self.played.engine, self._network
        used = network_name(Path(network_on(engine.settings.network, engine.width, engine.height)))
        offer = {
            "name": network.name,
            "network": network_name(Path(network.file_name)),
            "megabytes": network.megabytes,
            "host": network.host,
            "licence": network.licence,
            "licenceAddress": LICENCES,
        }
        progress = None if self._progress is None else dict(zip(("done", "total"), self._progress, strict=True))
        return {"offer": offer if progress or (not self._is_here and mean_errors(used)) else None, "loading": progress}
