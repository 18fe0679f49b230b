"""`gtp_engine web`: the game in a browser."""

import signal
import threading
import webbrowser
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ...base import interrupts
from ...base.fields import Range, Text
from ...base.folders import data_dir
from ...base.settings import setting
from ...base.system import EXIT_INTERRUPTED, wait_for
from ...engine.settings import EngineSettings
from .command import command
from .common_options import search_options
from .first_game import DEFAULTS, PlayersOptions, close_engine, first_game, rated_games

if TYPE_CHECKING:
    from ..web.server import Server


@dataclass(frozen=True)
class ServerOptions:
    """Where the page is.

    Attributes:
        port: Port; 0: any free one.
        host: Let other computers open the page at this address of this computer; auto: its address in the network.
        browser: Open the page in the browser.
    """

    port: int | None = setting(
        None, accepts=Range(0, 65535, whole=True), shown="8019, or the next free one", heading="Server"
    )
    host: str | None = setting(None, accepts=Text(), metavar="ADDRESS")
    browser: bool = setting(True)


@command(
    common=("board-size", "colour", "handicap", "rank"),
    groups={"players": PlayersOptions, "server_options": ServerOptions, "search": search_options()},
    context_settings={"default_map": DEFAULTS},
)
def web(players: PlayersOptions, server_options: ServerOptions, search: EngineSettings) -> None:
    """Play in the browser.

    Opens a page with the board; click a point to play there. Every move is saved as SGF, and `play` can continue the
    game. All tabs with the page show the same game. Only this computer can reach the page, with the key in the printed
    address. With --host a phone in the same network can too, by a second address, whose key opens the page once. Ctrl-C
    ends the program.

    The first game asks how strong you are; then the engine's rank follows your results. With --visits, --seconds or
    --network but no --rank it plays at full strength without asking.

    With FILE or --resume a saved game continues, with its clocks; --rank, --seconds and --visits override the file. Any
    other game record is shown: step through it, analyse it, and play on from any position.

    \b
    Examples:
      gtp_engine web                              9x9, you are Black
      gtp_engine web --board-size 19 --rank 10k   19x19, a weaker opponent
      gtp_engine web --resume                     continue the last game
      gtp_engine web game.sgf                     show and analyse a game
      gtp_engine web --no-browser --port 9000     only print the address
      gtp_engine web --host auto                  a phone in the same network too
    """
    import asyncio

    from ...table.played_game import PlayedGame
    from ..web.server import Server, own_address

    steps = players.steps()
    host = own_address(server_options.host) if server_options.host else None
    # Pages of any free port would not find it again.
    server = Server(server_options.port, host, None if server_options.port == 0 else data_dir() / "page-cookies")
    server.guard.on_admitted = lambda: _show_network(server)
    first = first_game(players, search, shows_finished=True)
    wait_for(first.engine.board_ready)
    interrupts.note(server.stop)
    signal.signal(signal.SIGTERM, lambda number, frame: server.stop())
    saved = first.saved
    if saved is not None and not saved.is_own and len(first.humans) == 2 and players.move is None:
        saved = saved.as_record()
    try:
        humans, folder, comments = first.humans, players.folder, players.comments
        played = PlayedGame(first.engine, humans=humans, folder=folder, comments=comments, saved=saved, has_clock=True)
        rated = rated_games(players, search, played, can_ask=True)
        settings = first.search
        is_chosen = settings.rank is not None or settings.search_parameters(settings.network).profile
        is_strongest = rated is None and saved is None and len(first.humans) == 1 and not is_chosen
        asyncio.run(server.serve(played, lambda: _show(server, server_options.browser, is_strongest), rated, steps))
    finally:
        close_engine(first.engine, EXIT_INTERRUPTED)
    interrupts.check()


def _show(server: "Server", browser: bool, is_strongest: bool) -> None:
    """Prints the addresses, and opens the page in the browser, which may take a while."""
    click.echo(f"The board is at {server.guard.address}\nCtrl-C ends the program.")
    if is_strongest:
        click.echo(
            "The engine plays at full strength: --rank 15k chooses a rank, --rank auto one that follows your results."
        )
    _show_network(server)
    if browser:
        threading.Thread(target=webbrowser.open, args=(server.guard.address,), daemon=True).start()


def _show_network(server: "Server") -> None:
    """Prints the address for another computer, if there is one."""
    if server.guard.network_address:
        click.echo(f"Another computer or a phone in your network can open it once at {server.guard.network_address}")
