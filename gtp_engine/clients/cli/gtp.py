"""`gtp_engine gtp`: the engine for GUIs and servers."""

import sys
from dataclasses import dataclass

from ...base import VERSION
from ...base.fields import Text
from ...base.settings import setting
from ...engine.settings import LIVE_NAMES, EngineSettings
from ...solver.ahead import begin_when
from .command import command
from .common_options import GameOptions, search_options
from .katago_options import KataGoOptions


@dataclass(frozen=True)
class ClientOptions:
    """What the client gets.

    Attributes:
        name: Response to the GTP command `name`.
        version: Response to the GTP command `version`.
    """

    name: str = setting("gtp_engine", metavar="NAME", heading="Client")
    version: str | None = setting(None, accepts=Text(), flags=["--version-as"], metavar="VERSION", shown="the version")


@command(
    common=("network", "seconds", "visits", "rank"),
    groups={
        "game": GameOptions,
        "search": search_options(["rank", "delay", "ponder", "resign"]),
        "client": ClientOptions,
        "katago": KataGoOptions,
    },
)
def gtp(game: GameOptions, search: EngineSettings, client: ClientOptions, katago: KataGoOptions) -> None:
    """Speak GTP on standard input and output.

    Commands are answered in order. If `quit` arrives during genmove, the engine answers at once. At the end of
    input, running searches finish first, so leave `quit` out of a script. Lizzie asks for scores and ownership only if
    the name begins with KataGo. KataGo's own options are accepted as well: in a GUI that starts `katago gtp ...` only
    the program has to be replaced.

    \b
    Examples:
      gtp_engine gtp                      5 s a move if the GUI sends no times
      gtp_engine gtp --visits 1000 --threads 1 --seed 7
      gtp_engine gtp --rules japanese --komi 6.5 --ponder
      gtp_engine gtp --rank 12k --delay 2 play as a 12k does, and not at once
      gtp_engine gtp --name KataGo        for Lizzie and LizzieYzy
    """
    from ...engine.engine import Engine
    from ..gtp.loop import run

    search = katago.apply_to(search, katago.values, LIVE_NAMES)
    engine = Engine(search, width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    begin_when(engine.ready)
    sys.exit(run(engine, name=client.name, version=client.version or VERSION))
