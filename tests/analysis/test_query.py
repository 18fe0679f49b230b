"""Queries of the JSON analysis protocol: what the fields mean, and what is said of wrong ones."""

from dataclasses import replace
from typing import Any

import pytest

from gtp_engine.clients.analysis.query import Defaults, Query, QueryError, QuerySettings, parse_query
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import ANY_MOVE, Limits

DEFAULTS = Defaults(lambda width, height: SearchParameters(), 19, QuerySettings(visits=500))
BASE: dict[str, Any] = {"id": "q", "moves": [], "rules": "chinese", "boardXSize": 9, "boardYSize": 9}
D4, E5 = parse_vertex("D4", 9, 9), parse_vertex("E5", 9, 9)


def parsed(**fields: object) -> Query:
    query = parse_query(BASE | fields, DEFAULTS)
    query.check_moves()
    return query


def test_least_query() -> None:
    query = parsed()
    assert (query.id, query.turns) == ("q", {0: 0})
    request, settings = query.request, query.settings
    assert (request.limits, settings.perspective, settings.pv_length, request.interval) == (
        Limits(500),
        BLACK,
        15,
        None,
    )
    assert (request.game.to_move, request.game.komi, request.root_moves) == (BLACK, 7.5, ANY_MOVE)
    assert (query.wanted, request.interval) == (frozenset(), None)


def test_the_game() -> None:
    moves = [["b", "D4"], ["W", "pass"], ["B", "(4,4)"]]
    query = parsed(moves=moves, komi=6, rules={"scoring": "TERRITORY"}, boardYSize=7)
    assert [move.point for move in query.moves] == [parse_vertex("D4", 9, 7), PASS, parse_vertex("E3", 9, 7)]
    assert (query.request.game.height, query.request.game.komi, query.request.game.rules.scoring) == (7, 6, "TERRITORY")
    assert query.turns == {3: 0}


@pytest.mark.parametrize(
    ("fields", "komi"), [({"rules": "japanese"}, 6.5), ({"rules": "aga-button"}, 7.0), ({"rules": "aga"}, 7.5)]
)
def test_komi_where_none_is_said(fields: dict[str, Any], komi: float) -> None:
    assert parsed(**fields).request.game.komi == komi


@pytest.mark.parametrize(
    ("fields", "player"),
    [
        ({"moves": [["W", "D4"]]}, WHITE),
        ({"initialStones": [["B", "D4"], ["B", "E5"]]}, WHITE),
        ({"initialStones": [["B", "D4"], ["W", "E5"]]}, BLACK),
        ({"initialStones": [["B", "D4"], ["B", "E5"]], "initialPlayer": "b"}, BLACK),
    ],
)
def test_who_begins(fields: dict[str, Any], player: int) -> None:
    assert parsed(**fields).request.game.to_move == player


def test_handicap_bonus_may_be_overridden() -> None:
    stones = {"initialStones": [["B", "D4"], ["B", "E5"]]}
    assert parsed(**stones).request.game.handicap_bonus == 2
    assert parsed(**stones, whiteHandicapBonus="0").request.game.handicap_bonus == 0


def test_turns_and_priorities() -> None:
    moves = [["B", "D4"], ["W", "E5"]]
    query = parsed(moves=moves, analyzeTurns=[2, 0, 2], priorities=[5, -1, 7])
    assert list(query.turns.items()) == [(0, -1), (2, 7)]
    assert parsed(moves=moves, analyzeTurns=[2, 1], priority=3).turns == {1: 3, 2: 3}


def test_settings() -> None:
    settings = {"maxVisits": 7, "maxTime": 2, "reportAnalysisWinratesAs": "sidetomove", "wideRootNoise": 0.5}
    query = parsed(overrideSettings=settings | {"cpuctExploration": 1.5, "virtual_loss": "2", "lagBuffer": 1})
    assert (query.request.limits, query.settings.perspective) == (Limits(7, 2.0), None)
    assert (query.request.parameters.c_puct, query.request.parameters.virtual_loss) == (1.5, 2.0)
    assert query.request.parameters.wide_root_noise == 0.5
    assert query.warnings == (("overrideSettings", "Unknown config params: lagBuffer"),)
    query = parsed(overrideSettings=settings, maxVisits=9, rootPolicyTemperature=2, rootFpuReductionMax=0)
    assert query.request.limits.visits == 9
    assert (query.request.parameters.root_policy_temperature, query.request.parameters.root_fpu_reduction) == (2, 0)
    query = parsed(overrideSettings={"rootPolicyTemperatureEarly": 1.5}, rootPolicyTemperature=2)
    assert query.request.parameters.root_policy_temperature_after(0, 81) == 2


@pytest.mark.parametrize(("player", "black", "white"), [(None, 1.5, 1.5), ("BLACK", 1.5, -1.5), ("w", -1.5, 1.5)])
def test_the_doubling_advantage_is_that_of_the_named_player(player: str | None, black: float, white: float) -> None:
    named = {} if player is None else {"playoutDoublingAdvantagePla": player}
    query = parsed(moves=[["B", "D4"]], overrideSettings={"playoutDoublingAdvantage": 1.5} | named)
    game = query.request.game.copy()
    assert query.request_for(game).parameters.playout_doubling_advantage == black
    query.play(game, 0)
    assert query.request_for(game).parameters.playout_doubling_advantage == white
    assert query.warnings == ()


@pytest.mark.parametrize(
    ("word", "player"),
    [("BLACK", BLACK), ("b", BLACK), ("White", WHITE), ("W", WHITE), ("w", WHITE), ("SideToMove", None)],
)
def test_the_perspective_has_katagos_names(word: str, player: int | None) -> None:
    assert parsed(overrideSettings={"reportAnalysisWinratesAs": word}).settings.perspective == player


def test_root_moves() -> None:
    avoided = [{"player": "B", "moves": ["D4", "pass"], "untilDepth": 3}, {"player": "W", "moves": [], "untilDepth": 1}]
    moves = parsed(avoidMoves=avoided).request.root_moves
    assert moves is not None and moves.avoid == ((BLACK, D4, 3), (BLACK, PASS, 3))
    moves = parsed(allowMoves=avoided).request.root_moves
    assert moves is not None and moves.allow == ((BLACK, D4, 3), (BLACK, PASS, 3))
    moves = parsed(avoidMoves=[{"player": "B", "moves": ["D4"], "untilDepth": 2**70}]).request.root_moves
    assert moves is not None and moves.avoid == ((BLACK, D4, 2**70),)


def test_an_empty_list_of_allowed_moves_forbids_all() -> None:
    moves = parsed(allowMoves=[{"player": "W", "moves": [], "untilDepth": 2}]).request.root_moves
    assert moves is not None and moves.allow == ()
    assert len(moves.avoid) == 82 and (WHITE, PASS, 2) in moves.avoid and (WHITE, D4, 2) in moves.avoid
    moves = parsed(allowMoves=[]).request.root_moves
    assert moves is not None and (moves.avoid, moves.allow) == ((), ())


def test_whom_to_imitate() -> None:
    defaults = replace(DEFAULTS, takes_profile=True)
    settings = {"overrideSettings": {"humanSLProfile": "rank_3d_5k"}}
    assert parse_query(BASE | settings, defaults).request.parameters.profile == "rank_3d_5k"
    with pytest.raises(QueryError, match="the network imitates humans: choose a profile"):
        parse_query(BASE, defaults)
    with pytest.raises(QueryError, match="the network does not imitate humans"):
        parse_query(BASE | settings, DEFAULTS)


def test_unknown_fields_are_warned_of() -> None:
    assert parsed(foo=1, includeOwnership=True).warnings == (
        ("foo", "Unexpected or unused field, do you have a typo?"),
    )


def test_values_that_differ_from_katagos_are_warned_of() -> None:
    names = ["includeOwnershipStdev", "includeMovesOwnershipStdev", "includeNoResultValue"]
    texts = ["The deviation between the moves at the root only", "Not computed", "Always 0"]
    warnings = parsed(**dict.fromkeys(names, True)).warnings
    assert [name for name, _ in warnings] == names
    assert all(given.startswith(text) for (_, given), text in zip(warnings, texts, strict=True))
    assert parsed(**dict.fromkeys(names, False)).warnings == ()


@pytest.mark.parametrize(
    ("fields", "field", "text"),
    [
        ({"boardXSize": 25}, "boardXSize", "Must be a whole number from 2 to 19"),
        ({"boardYSize": None}, "boardYSize", "Must be a whole number from 2 to 19"),
        ({"boardYSize": True}, "boardYSize", "Must be a whole number from 2 to 19"),
        ({"moves": "D4"}, "moves", "Must be an array of pairs"),
        ({"moves": [["B"]]}, "moves", "Must be an array of pairs"),
        ({"moves": [["X", "D4"]]}, "moves", "Could not parse player: X"),
        ({"moves": [["B", "D40"]]}, "moves", "Could not parse board location: D40"),
        ({"moves": [["B", ["D4"]]]}, "moves", "Could not parse board location"),
        ({"moves": [["B", "(9,0)"]]}, "moves", "Could not parse board location: (9,0)"),
        ({"moves": [["B", "D4"], ["W", "D4"]]}, "moves", "Illegal move 1: D4"),
        ({"initialStones": [["B", "pass"]]}, "initialStones", "Could not parse board location: pass"),
        ({"initialStones": [["B", "D4"], ["W", "D4"]]}, "initialStones", "cannot set up D4"),
        ({"initialPlayer": 3}, "initialPlayer", 'Must be "b" or "w"'),
        ({"rules": "chess"}, "rules", "Could not parse rules: unknown rules: 'chess'"),
        ({"rules": 5}, "rules", "Must be the name of a ruleset"),
        ({"rules": {"ko": 3}}, "rules", "Could not parse rules"),
        ({"whiteHandicapBonus": "2"}, "whiteHandicapBonus", "Must be one of 0, N, N-1"),
        ({"komi": 7.25}, "komi", "Must be a whole or half number from -400 to 400"),
        ({"komi": float("nan")}, "komi", "Must be a whole or half number"),
        ({"komi": "7"}, "komi", "Must be a whole or half number"),
        ({"analyzeTurns": [1]}, "analyzeTurns", "Invalid turn number: 1"),
        ({"analyzeTurns": [0.0]}, "analyzeTurns", "Must specify an array of integers"),
        ({"priorities": [1]}, "priorities", "Can only specify when also specifying analyzeTurns"),
        ({"analyzeTurns": [0], "priorities": [1, 2]}, "priorities", "Must be of matching length to analyzeTurns"),
        ({"analyzeTurns": [0], "priorities": [1], "priority": 1}, "priority", "Cannot specify both"),
        ({"maxVisits": 0}, "maxVisits", f"Must be a whole number from 1 to {2**50}"),
        ({"maxVisits": 2.5}, "maxVisits", f"Must be a whole number from 1 to {2**50}"),
        ({"includeOwnership": 1}, "includeOwnership", "Must be a boolean"),
        ({"overrideSettings": []}, "overrideSettings", "Must be an object"),
        ({"overrideSettings": {"cpuctExploration": "x"}}, "overrideSettings", "Could not set settings: invalid c_puct"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": 1}}, "overrideSettings", "Could not set settings"),
        ({"overrideSettings": {"maxTime": "soon"}}, "overrideSettings", "Could not set settings: invalid maxTime"),
        ({"avoidMoves": {}}, "avoidMoves", "Must be a list of dicts"),
        ({"avoidMoves": [{"player": "B", "moves": ["D4"]}]}, "avoidMoves", "Must be a list of dicts"),
        ({"avoidMoves": [{"player": "B", "moves": ["D4"], "untilDepth": 0}]}, "avoidMoves", "Must be a positive"),
        ({"avoidMoves": [{"player": "B", "moves": "D4", "untilDepth": 1}]}, "avoidMoves", "Must be an array"),
        ({"avoidMoves": [], "allowMoves": []}, "allowMoves", "Cannot specify both allowMoves and avoidMoves"),
        ({"allowMoves": 2 * [{"player": "B", "moves": [], "untilDepth": 1}]}, "allowMoves", "Cannot specify"),
        ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery", "Must be a number of seconds"),
        ({"firstReportDuringSearchAfter": "soon"}, "firstReportDuringSearchAfter", "Must be a number of seconds"),
        ({"rootPolicyTemperature": "1"}, "rootPolicyTemperature", "Must be a number from 0.01 to 100"),
        (
            {"overrideSettings": {"wideRootNoise": 6}},
            "overrideSettings",
            "Could not set settings: invalid wide_root_noise",
        ),
    ],
)
def test_wrong_fields_are_named(fields: dict[str, Any], field: str, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parsed(**fields)
    assert (caught.value.field, str(caught.value)[: len(text)]) == (field, text)


def test_games_are_replayed_as_tolerantly_as_by_katago() -> None:
    black, white = ["C5", "D6", "D4", "A9", "B9"], ["D5", "E6", "E4", "F5", "D9", "A8", "B8", "C8"]
    stones = [["B", vertex] for vertex in black] + [["W", vertex] for vertex in white]
    moves = [["B", "E5"], ["W", "D5"], ["B", "C9"]]  # White retakes the ko at once; three stones are a suicide
    query = parsed(initialStones=stones, initialPlayer="B", moves=moves)
    game = query.request.game.copy()
    for number in range(3):
        query.play(game, number)
    assert [game.stone_at(vertex) for vertex in ("D5", "E5", "A9", "C9")] == [WHITE, EMPTY, EMPTY, EMPTY]
    single = [["W", "A8"], ["W", "B9"]]
    with pytest.raises(QueryError, match="Illegal move 0: A9"):
        parsed(initialStones=single, moves=[["B", "A9"]])


@pytest.mark.parametrize("name", ["moves", "rules", "boardXSize", "boardYSize"])
def test_required_fields(name: str) -> None:
    fields = {key: value for key, value in BASE.items() if key != name}
    with pytest.raises(QueryError) as caught:
        parse_query(fields, DEFAULTS)
    assert caught.value.field == name


def test_more_moves_than_a_game_can_have_are_refused_unplayed() -> None:
    with pytest.raises(QueryError, match="Must have at most 10000 entries") as error:
        parsed(moves=[["B", "pass"]] * 10_001)
    assert error.value.field == "moves"


def test_no_turn_is_an_error_since_there_would_be_no_answer() -> None:
    with pytest.raises(QueryError, match="Must name at least one turn") as error:
        parsed(analyzeTurns=[])
    assert error.value.field == "analyzeTurns"


def test_profiles_are_for_the_human_model_if_there_is_one() -> None:
    fields = BASE | {"overrideSettings": {"humanSLProfile": "rank_5k"}}
    with pytest.raises(QueryError, match="does not imitate humans"):
        parse_query(fields, DEFAULTS)
    query = parse_query(fields, replace(DEFAULTS, has_human_model=True))
    assert (query.human_profile, query.request.parameters.profile) == ("rank_5k", "")
