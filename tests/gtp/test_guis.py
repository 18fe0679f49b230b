"""What programs with a board send to an engine, as their sources have it: all of it is answered.

LizGoban, Sabaki and LizzieYzy with its successor LizzieYzy Next were read. KaTrain speaks the JSON analysis instead.
"""

from collections.abc import Callable

import pytest
from conversation import ROOT, Conversation

NETWORK = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"

# Each conversation in order.
SENT = {
    "LizGoban": (
        "kata-analyze interval 1; kata-set-rules chinese; set_position; lz-analyze interval 1 minmoves 30; "
        "kata-raw-nn 0; kata-analyze 1 pvVisits true; kata-analyze 1 pvEdgeVisits true; "
        "kata-analyze 1 ownershipStdev true; kata-analyze 1 movesOwnership true; kata-analyze 1 rootInfo true; "
        "lz-analyze 1 allow B D4 1; clear_cache; "
        "kata-get-param humanSLProfile; kata-get-models; clear_board; komi 7.5; set_free_handicap D4 F6; clear_board; "
        "set_position b D4 w F6 b E5; play w C3; play b pass; undo; "
        "name kata-analyze b interval 10 ownership true ownershipStdev true minmoves 5 pvVisits true rootInfo true; "
        "kata-analyze b interval 10 ownership true allow b C6,D5 1 allow w C6,D5 1; time_settings 0 1 1; name; "
        "kata-search_cancellable b"
    ),
    "Sabaki": (
        "name; version; protocol_version; list_commands; komi 6.5; boardsize 9; clear_board; "
        "set_free_handicap D4 F6; play W E5; undo; kata-analyze W 50; protocol_version; rectangular_boardsize 9 7"
    ),
    "LizzieYzy": (
        "name; version; list_commands; komi 7.5; boardsize 9; kata-get-param playoutDoublingAdvantage; "
        "kata-get-param analysisWideRootNoise; kata-set-param playoutDoublingAdvantage 0.5; "
        "kata-set-param analysisWideRootNoise 0.04; kata-set-param playoutDoublingAdvantage 0; "
        "kata-set-param analysisWideRootNoise 0; kata-get-rules; "
        'kata-set-rules {"friendlyPassOk":true,"hasButton":false,"ko":"SIMPLE","scoring":"AREA","suicide":false,'
        '"tax":"NONE","whiteHandicapBonus":"N"}; '
        "kata-analyze B 10 ownership true pvVisits true movesOwnership true; stop; "
        "kata-analyze B 10 avoid b C3,D4 5 ownership true; kata-raw-nn 7; kata-time_settings byoyomi 600 5 3; "
        "kata-time_settings fischer 600 5; kata-time_settings absolute 600; time_settings 0 1 1; time_left B 9.50 1; "
        "kata-get-param maxTime; kata-get-param maxVisits; kata-get-param ponderingEnabled; "
        "kata-set-param ponderingEnabled false; kata-set-param maxTime 5; kata-set-param maxVisits 1125899906842624; "
        "kata-set-param maxVisits 16; "
        "kata-genmove_analyze B 2147483647 ownership true; clear_board; place_free_handicap 2; clear_board; "
        "fixed_handicap 2"
    ),
}


# What means nothing to this engine. Refused, LizGoban plays its handicap stones one by one; LizzieYzy continues.
REFUSED = (
    "set_free_handicap A1; lz-setoption name visits value 0; endstate_map; kata-set-param numSearchThreads 8; "
    "kata-set-param maxPlayouts 100; lz-setoption name Visits value 100; heatmap"
)


@pytest.mark.parametrize("program", SENT)
def test_what_programs_send_is_answered(start: Callable[..., Conversation], program: str) -> None:
    engine = start("--visits", "16", "--threads", "1", launcher=("-m", "gtp_engine", "gtp", "--network", str(NETWORK)))
    engine.ask("boardsize 9")
    for command in SENT[program].split("; "):
        is_endless = command.startswith(("kata-analyze", "lz-analyze"))
        engine.send(command, *[""] * is_endless)
        assert engine.response().startswith("="), command


def test_what_programs_ask_for_in_vain_is_refused_in_one_line(start: Callable[..., Conversation]) -> None:
    engine = start("--network", "none")
    for command in REFUSED.split("; "):
        assert "\n" not in engine.fail(command), command
