"""Searches of many positions: how they are searched by the settings of an engine, and `search_games`."""

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import groupby

from ..base.fields import invalid
from ..base.threads import on_own_thread
from ..engine.settings import EngineSettings, as_settings
from ..engine.worker import SearchWorker
from ..go.game import Game, as_game
from ..search.report import SearchReport
from ..search.request import Limits
from .searches import Searches


class BoardSearches:
    """Says how positions are searched on each board. A network is loaded for the first board that needs it."""

    def __init__(self, settings: EngineSettings, limits: Limits, is_stopped: Callable[[], bool]) -> None:
        """Makes searches within these limits; the rest follows from the settings."""
        self._settings, self._limits, self._is_stopped = settings, limits, is_stopped
        self._worker: SearchWorker | None = None

    def load(self, width: int, height: int) -> SearchWorker:
        """Loads the network for a board, if it is not loaded.

        Raises:
            UserError: The network cannot be used, or the profile does not suit it.
        """
        settings = self._settings.on_board(width, height)
        if self._worker is None or settings.network != self._worker.network_name:
            parameters = settings.search_parameters(settings.network)
            self.close()
            self._worker = settings.new_worker()
            self._worker.warm_up()
            self._worker.announce(parameters)
            self._worker.check_profile(parameters.profile)
        return self._worker

    def on_board(self, width: int, height: int) -> Searches:
        """Returns how positions on a board are searched: by its evaluator, whose cache is empty, and its parameters.

        Raises:
            UserError: As `load`, or the board is too large for the network and the settings are strict.
        """
        worker, settings = self.load(width, height), self._settings.on_board(width, height)
        evaluator = worker.evaluator_on(width, height)
        parameters = worker.parameters_on(width, height, settings.search_parameters(settings.network))
        evaluator.clear_cache()  # so that no result depends on what was searched before
        return Searches(evaluator, parameters, self._limits, settings.seed, self._is_stopped)

    def close(self) -> None:
        """Closes the network, and the rollouts for boards too large for it."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def search_games(
    games: Iterable[Game], settings: EngineSettings | None = None, *, ownership: bool = False
) -> Iterator[SearchReport]:
    """Searches the present position of each game and yields the reports in order, each as soon as it is there.

    With a limit of visits only, positions on boards of one size that follow each other are searched side by side, in
    common batches. With a time limit, or with rollouts, they are searched one after the other.

    Args:
        games: The games, such as `record.positions()`, which may have no end; each is copied when its turn comes.
        settings: How to search, such as `EngineSettings(visits=100)`; None for the defaults, 5 seconds a position.
        ownership: Whether the owners of the points are reported.

    Raises:
        UserError: An argument is invalid; while it runs, also for what cannot be searched by these settings.
    """
    if isinstance(games, Game) or not isinstance(games, Iterable):
        raise invalid("games", games, "games, such as [game] or record.positions()")
    stop = threading.Event()
    found = _search((as_game(game).copy() for game in games), as_settings(settings), ownership, stop)
    return on_own_thread("search", found, stop.set)


def _search(
    games: Iterable[Game], settings: EngineSettings, ownership: bool, stop: threading.Event
) -> Generator[SearchReport, None, None]:
    with closing(BoardSearches(settings, settings.limits(), stop.is_set)) as searches:
        for board, positions in groupby(games, lambda game: (game.width, game.height)):
            yield from searches.on_board(*board).reports(positions, ownership=ownership)
