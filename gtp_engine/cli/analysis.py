"""`gtp_engine analysis`: KataGo's JSON analysis protocol for programs that review games."""

from typing import TYPE_CHECKING, Any

import click

from . import INTERRUPTED
from .options import SearchOptions, analysis_options, engine_settings

if TYPE_CHECKING:
    from ..engine import EngineSettings
    from ..evaluate.interface import Evaluator

DEFAULT_VISITS = 500  # as in KataGo's analysis_example.cfg


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
    from ..analysis.review import LEAVES_EACH
    from ..engine import new_thinker
    from ..log import log
    from ..search.parameters import default_parameters
    from ..search.search import Limits

    inbox = Inbox()
    inbox.start(0)
    thinker = new_thinker(settings)
    thinker.warm_up()
    evaluator = thinker.evaluator()
    parameters = settings.parameters or default_parameters(settings.network)
    thinker.announce(parameters)
    visits = DEFAULT_VISITS if settings.visits is None and settings.seconds is None else settings.visits
    conversation = Conversation(
        evaluator,
        Defaults(
            parameters, Limits(visits, settings.seconds), evaluator.largest_board, takes_profile=evaluator.takes_profile
        ),
        inbox,
        write,
        places=max(1, evaluator.batch_size // LEAVES_EACH),
        seed=settings.seed,
        models=_models(evaluator, settings.network),
    )
    log("Started, ready to begin handling requests")  # KataGo's words, which some scripts wait for
    conversation.run(wait_for_all=wait_for_all)
    thinker.close()


def _models(evaluator: "Evaluator", network: str) -> tuple[dict[str, Any], ...]:
    """What KataGo's `query_models` says of a network; nothing without one."""
    from ..search.parameters import WITHOUT_NETWORK

    if network in WITHOUT_NETWORK:
        return ()
    from ..evaluate.network import NetworkEvaluator
    from ..network.library import find_network

    assert isinstance(evaluator, NetworkEvaluator)
    model = {
        "name": str(find_network(network)),
        "internalName": evaluator.config.name,
        "maxBatchSize": evaluator.batch_size,
        "usesHumanSLProfile": evaluator.config.metadata_version > 0,
        "version": evaluator.config.version,
        "usingFP16": "true" if evaluator.precision == "float16" else "false",
    }
    return (model,)
