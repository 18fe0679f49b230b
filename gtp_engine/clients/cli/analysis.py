"""`gtp_engine analysis`: KataGo's JSON analysis protocol for programs that review games."""

import logging
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ...base.lines import lines_ahead
from ...base.log import NOTICE
from ...base.settings import setting
from ...engine.settings import EngineSettings
from ...search.evaluate.choices import AUTO
from .command import command
from .common_options import LARGEST, network_file, search_options
from .katago_options import KataGoOptions

if TYPE_CHECKING:
    from ..gtp.lines import Output

_LINES_AHEAD = 256  # more than are ever answered between two looks at the input
DEFAULT_VISITS = 500  # as in KataGo's analysis_example.cfg
FIRST_BOARD = 19  # the board size whose network is loaded before the first query


@dataclass(frozen=True)
class ProtocolOptions:
    """The options of the conversation.

    Attributes:
        quit_without_waiting: Exit at the end of input without finishing pending queries.
    """

    quit_without_waiting: bool = setting(
        False, is_flag=True, flags=["--quit-without-waiting", "-quit-without-waiting"], heading="Protocol"
    )


@command(
    common=("network", "visits", "seconds", "threads"),
    groups={
        "search": search_options(visits=str(DEFAULT_VISITS)),
        "protocol": ProtocolOptions,
        "katago": KataGoOptions,
    },
)
@click.pass_context
def analysis(context: click.Context, search: EngineSettings, protocol: ProtocolOptions, katago: KataGoOptions) -> None:
    """Speak KataGo's JSON analysis protocol on standard input and output.

    Each line is a query. Positions are searched at the same time, and answers are sent as soon as they are ready.
    --visits applies to queries without maxVisits (default: 500 visits), --seconds to those without maxTime in
    overrideSettings; both limits hold together. As in KataGo's example configuration, values are from Black's view
    unless a query's overrideSettings contain reportAnalysisWinratesAs, and the root's policy is flattened a little
    (wideRootNoise 0.04), so that the search looks at more moves.

    KataGo's own options are accepted as well, so that KaTrain can start this program as its KataGo executable.

    \b
    Examples:
      gtp_engine analysis --network kata1-b18c384nbt.bin.gz
      echo '{"id":"1","moves":[["B","D4"]],"rules":"chinese","boardXSize":9,"boardYSize":9}' | gtp_engine analysis
    """
    from ..gtp.lines import ClientGoneError, make_blocking, take_standard_output

    output = take_standard_output()
    make_blocking(0)
    try:
        _converse(katago.apply_to(search), katago, output, wait_for_all=not protocol.quit_without_waiting)
    except ClientGoneError:
        context.exit(0)


def _converse(settings: EngineSettings, katago: KataGoOptions, output: "Output", *, wait_for_all: bool) -> None:
    """Answers queries from standard input until it ends."""
    from ...search.request import Limits
    from ..analysis.protocol import LONGEST_LINE, Conversation
    from ..analysis.query import Defaults
    from ..analysis.schedulers import Schedulers

    lines = lines_ahead(0, LONGEST_LINE, _LINES_AHEAD)
    human_model = network_file(katago.human_model) if katago.human_model else None
    with closing(Schedulers(settings, human_model)) as schedulers:
        evaluator = schedulers.on_board(FIRST_BOARD, FIRST_BOARD).evaluator
        visits = DEFAULT_VISITS if settings.visits is None and settings.seconds is None else settings.visits
        defaults = Defaults(
            lambda width, height: settings.search_parameters(settings.network_on(width, height)),
            Limits(visits, settings.seconds),
            LARGEST if settings.network == AUTO and not settings.strict else evaluator.largest_board,
            takes_profile=evaluator.takes_profile,
            has_human_model=katago.human_model is not None,
        )
        conversation = Conversation(
            schedulers.on_board,
            katago.adjust(defaults),
            lines,
            output.write,
            is_closed=lambda: output.is_closed,
            seed=settings.seed,
            models=schedulers.models,
            human_policy=schedulers.human_policy,
        )
        # KataGo's words, which some scripts wait for
        logging.getLogger(__name__).log(NOTICE, "Started, ready to begin handling requests")
        conversation.run(wait_for_all=wait_for_all)
