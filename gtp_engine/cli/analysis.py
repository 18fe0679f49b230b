"""`gtp_engine analysis`: KataGo's JSON analysis protocol for programs that review games."""

from typing import TYPE_CHECKING, Any

import click

from ..evaluate.choices import AUTO, network_on
from . import INTERRUPTED
from .options import LARGEST, SearchOptions, analysis_options, engine_settings

if TYPE_CHECKING:
    from ..engine import EngineSettings
    from ..evaluate.interface import Evaluator
    from ..search.scheduler import Scheduler
    from ..search.thinker import Thinker

DEFAULT_VISITS = 500  # as in KataGo's analysis_example.cfg
FIRST_BOARD = 19  # for which it gets ready before the first query


@click.command()
@analysis_options
@click.option(
    "--quit-without-waiting",
    "-quit-without-waiting",
    is_flag=True,
    help="At the end of input, end at once and not after all queries.",
)
@click.pass_context
def analysis(context: click.Context, search: SearchOptions, quit_without_waiting: bool) -> None:
    """Speak KataGo's JSON analysis protocol on standard input and output.

    Each line is a query, its positions are searched side by side, answers come as they are ready. --visits and
    --seconds hold where a query has no maxVisits and maxTime (500 visits where nothing is said). Values are black's
    view unless a query's overrideSettings have reportAnalysisWinratesAs, as in KataGo's example configuration; and as
    there the root's policy is levelled a little (wideRootNoise 0.04), so that more moves are looked at.

    \b
    Examples:
      gtp_engine analysis --network kata1-b18c384nbt.bin.gz
      echo '{"id":"1","moves":[["B","D4"]],"rules":"chinese","boardXSize":9,"boardYSize":9}' | gtp_engine analysis
    """
    from ..gtp.output import ClientGoneError, make_blocking, take_standard_output

    output = take_standard_output()
    make_blocking(0)
    settings = engine_settings(search)
    try:
        _converse(settings, output.write, wait_for_all=not quit_without_waiting)
    except ClientGoneError:
        context.exit(0)
    except KeyboardInterrupt:
        context.exit(INTERRUPTED)


def _converse(settings: "EngineSettings", write: Any, *, wait_for_all: bool) -> None:
    from ..analysis.inbox import Inbox
    from ..analysis.protocol import Conversation
    from ..analysis.query import Defaults
    from ..log import log
    from ..search.search import Limits

    inbox = Inbox()
    inbox.start(0)
    networks = _Networks(settings)
    evaluator = networks.scheduler_on(FIRST_BOARD, FIRST_BOARD).evaluator
    visits = DEFAULT_VISITS if settings.visits is None and settings.seconds is None else settings.visits
    defaults = Defaults(
        lambda width, height: settings.search_parameters(network_on(settings.network, width, height)),
        Limits(visits, settings.seconds),
        LARGEST if settings.network == AUTO else evaluator.largest_board,
        takes_profile=evaluator.takes_profile,
    )
    conversation = Conversation(
        networks.scheduler_on, defaults, inbox, write, seed=settings.seed, models=networks.models
    )
    log("Started, ready to begin handling requests")  # KataGo's words, which some scripts wait for
    conversation.run(wait_for_all=wait_for_all)
    networks.close()


class _Networks:
    """What searches on which boards: one for each network that they ask for, made then."""

    def __init__(self, settings: "EngineSettings") -> None:
        self._settings = settings
        self._found: dict[str, tuple[Thinker, Scheduler]] = {}

    def scheduler_on(self, width: int, height: int) -> "Scheduler":
        from ..analysis.review import LEAVES_EACH
        from ..engine import new_thinker
        from ..search.scheduler import Scheduler

        here = self._settings.on_board(width, height)
        if here.network not in self._found:
            thinker = new_thinker(here)
            thinker.warm_up()
            thinker.announce(here.search_parameters(here.network))
            evaluator = thinker.evaluator()
            scheduler = Scheduler(evaluator, places=max(1, evaluator.batch_size // LEAVES_EACH))
            self._found[here.network] = thinker, scheduler
        return self._found[here.network][1]

    def models(self) -> list[dict[str, Any]]:
        """What KataGo's `query_models` says of them; nothing of what is no network."""
        from ..search.parameters import WITHOUT_NETWORK

        networks = ((name, scheduler.evaluator) for name, (_, scheduler) in self._found.items())
        return [_model(name, evaluator) for name, evaluator in networks if name not in WITHOUT_NETWORK]

    def close(self) -> None:
        for thinker, _ in self._found.values():
            thinker.close()


def _model(network: str, evaluator: "Evaluator") -> dict[str, Any]:
    """What KataGo's `query_models` says of a network."""
    from ..evaluate.network import NetworkEvaluator
    from ..network.library import find_network

    assert isinstance(evaluator, NetworkEvaluator)
    return {
        "name": str(find_network(network)),
        "internalName": evaluator.config.name,
        "maxBatchSize": evaluator.batch_size,
        "usesHumanSLProfile": evaluator.config.metadata_version > 0,
        "version": evaluator.config.version,
        "usingFP16": "true" if evaluator.precision == "float16" else "false",
    }
