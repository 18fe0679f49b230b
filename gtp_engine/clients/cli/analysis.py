"""`gtp_engine analysis`: KataGo's JSON analysis protocol for programs that review games."""

import logging
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...base.fields import Text
from ...base.lines import lines_ahead
from ...base.log import NOTICE
from ...base.settings import setting
from ...engine.settings import NETWORK, EngineSettings
from ...go.coords import MAX_SIZE
from ...search.evaluate.choices import AUTO
from ...search.parameters import KNOWN_NAMES
from ..gtp.lines import make_blocking, take_standard_output
from .command import command
from .common_options import network_file, search_options
from .katago_options import KataGoOptions

if TYPE_CHECKING:
    from ..analysis.query import QuerySettings

logger = logging.getLogger(__name__)

_LINES_AHEAD = 256  # more than are ever answered between two looks at the input
# As in KataGo's analysis_example.cfg
DEFAULT_VISITS = 500
_WIDE_ROOT_NOISE = 0.04
FIRST_BOARD = 19  # the board size whose network is loaded before the first query


@dataclass(frozen=True)
class AnalysisOptions(KataGoOptions):
    """The options of KataGo's `analysis`, with which KaTrain starts what it takes for KataGo.

    Attributes:
        human_model: A second network, which imitates humans: for humanPolicy in answers to queries with a
            humanSLProfile.
        analysis_threads: Accepted for KaTrain; positions are searched together on all --threads.
        quit_without_waiting: Exit at the end of input without finishing pending queries.
    """

    human_model: str | None = setting(None, accepts=NETWORK, flags=["-human-model", "--human-model"], metavar="FILE")
    analysis_threads: str | None = setting(
        None, accepts=Text(), flags=["-analysis-threads", "--analysis-threads"], metavar="N"
    )
    quit_without_waiting: bool = setting(False, is_flag=True, flags=["--quit-without-waiting", "-quit-without-waiting"])

    def for_queries(self, search: EngineSettings) -> "tuple[EngineSettings, QuerySettings]":
        """Returns the engine's settings with the model and the parameters set, and those of queries.

        It logs what has no effect. Raises UserError if a value is invalid, or the model is not found.
        """
        from ..analysis.query import QuerySettings

        if self.analysis_threads:
            logger.log(NOTICE, f"-analysis-threads {self.analysis_threads} has no effect: use --threads")
        search = replace(search, parameters={"wide_root_noise": _WIDE_ROOT_NOISE, **search.parameters})
        queries, others = QuerySettings(search.visits, search.seconds).with_values(self.values)
        if queries.visits is None and queries.seconds is None:
            queries = replace(queries, visits=DEFAULT_VISITS)
        return self.apply_to(search, others, KNOWN_NAMES), queries


@command(
    common=("network", "visits", "seconds", "threads"),
    groups={"search": search_options(visits=str(DEFAULT_VISITS)), "katago": AnalysisOptions},
)
def analysis(search: EngineSettings, katago: AnalysisOptions) -> None:
    """Speak KataGo's JSON analysis protocol on standard input and output.

    Each line is a query. Positions are searched at the same time, and answers are sent as soon as they are ready.
    --visits applies to queries without maxVisits (default: 500 visits), --seconds to those without maxTime in
    overrideSettings; both limits hold together. As in KataGo's example configuration, values are from Black's view
    unless a query's overrideSettings contain reportAnalysisWinratesAs, and wideRootNoise is 0.04, so that the search
    looks at more moves.

    KataGo's own options are accepted as well, so that KaTrain can start this program as its KataGo executable.

    \b
    Examples:
      gtp_engine analysis --network kata1-b18c384nbt.bin.gz
      echo '{"id":"1","moves":[["B","D4"]],"rules":"chinese","boardXSize":9,"boardYSize":9}' | gtp_engine analysis
    """
    from ..analysis.protocol import LONGEST_LINE, Conversation, Schedulers
    from ..analysis.query import Defaults

    output = take_standard_output()
    make_blocking(0)
    settings, queries = katago.for_queries(search)
    lines = lines_ahead(0, LONGEST_LINE, _LINES_AHEAD)
    human_model = network_file(katago.human_model) if katago.human_model else None
    with closing(Schedulers(settings, human_model)) as schedulers:
        evaluator = schedulers.on_board(FIRST_BOARD, FIRST_BOARD).evaluator
        defaults = Defaults(
            lambda width, height: settings.search_parameters(settings.network_on(width, height)),
            MAX_SIZE if settings.network == AUTO and not settings.strict else evaluator.largest_board,
            queries,
            takes_profile=evaluator.takes_profile,
            has_human_model=katago.human_model is not None,
        )
        conversation = Conversation(
            schedulers, defaults, lines, output.write, is_closed=lambda: output.is_closed, seed=settings.seed
        )
        # KataGo's words, which some scripts wait for
        logger.log(NOTICE, "Started, ready to begin handling requests")
        conversation.run(wait_for_all=not katago.quit_without_waiting)
