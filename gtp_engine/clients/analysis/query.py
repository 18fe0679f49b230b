"""A query of KataGo's JSON analysis protocol, checked field by field.

Fields, their ranges and what is an error or a warning follow KataGo's docs/Analysis_Engine.md.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ...base.errors import UserError
from ...base.fields import Range, Text, Words
from ...base.settings import setting, settings_of
from ...go.coords import BLACK, MIN_SIZE, PASS, WHITE, all_points, parse_colour, parse_vertex, point_at
from ...go.game import MOST_MOVES, Game, IllegalMove, Move
from ...go.rules import PART_VALUES, Rules, parse_rules, with_part
from ...search.evaluate.human_profile import check_profile
from ...search.parameters import KNOWN_NAMES, SearchParameters
from ...search.request import Limits, RootMoves, SearchRequest

PERSPECTIVES = {"BLACK": BLACK, "B": BLACK, "WHITE": WHITE, "W": WHITE, "SIDETOMOVE": None}
_LARGEST_KOMI = 400.0
_HIGHEST_PRIORITY = 2**62 - 1
_VISITS, _PV_LENGTH = Range(1, 2**50, whole=True), Range(1, 1000, whole=True)
_SECONDS = Range(0.001, 1e6, noun="number of seconds")
_NUMBERS = {
    "maxVisits": _VISITS,
    "analysisPVLen": _PV_LENGTH,
    "rootFpuReductionMax": Range(0, 2),
    "rootPolicyTemperature": Range(0.01, 100),
    "reportDuringSearchEvery": _SECONDS,
    "firstReportDuringSearchAfter": _SECONDS,
    "priority": Range(-_HIGHEST_PRIORITY, _HIGHEST_PRIORITY, whole=True),
}
_FLAGS = (
    *("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includeMovesOwnershipStdev"),
    *("includePolicy", "includePVVisits", "includeNoResultValue"),
)
_FLAG_WARNINGS = {
    "includeOwnershipStdev": "The deviation between the moves at the root only, not over the whole tree",
    "includeMovesOwnershipStdev": "Not computed: the tree keeps no spread for each move",
    "includeNoResultValue": "Always 0: the tree does not keep it",
}
_FIELDS = {
    *("id", "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus", "boardXSize"),
    *("boardYSize", "analyzeTurns", "avoidMoves", "allowMoves", "overrideSettings", "priorities"),
    *_NUMBERS,
    *_FLAGS,
}
_MOVES_FORM = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'
_RESTRICTIONS_FORM = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'"
_RULES_FORM = 'Must be the name of a ruleset such as "chinese" or "tromp-taylor", or a JSON object of its parts'


class QueryError(UserError):
    """An invalid field of a query. `field` is its name, "" if the line is not a query at all."""

    def __init__(self, field_name: str, text: str) -> None:
        super().__init__(text)
        self.field = field_name


def _perspective(text: object) -> int | None:
    return PERSPECTIVES[Words(PERSPECTIVES).parse("reportAnalysisWinratesAs", str(text).upper())]


@dataclass(frozen=True)
class QuerySettings:
    """What a query's overrideSettings and KataGo's -override-config change, apart from search parameters.

    Attributes:
        visits: The visits of each search; None for no limit.
        seconds: The seconds of each search; None for no limit.
        pv_length: The largest number of moves of a main line after the first.
        perspective: BLACK, WHITE, or None for the side to move.
        doublings_of: The player who has the playout doubling advantage: BLACK, WHITE, or None for the side to move.
    """

    visits: int | None = setting(None, accepts=_VISITS, katago="maxVisits")
    seconds: float | None = setting(None, accepts=Range(0, 1e20), katago="maxTime")
    pv_length: int = setting(15, accepts=_PV_LENGTH, katago="analysisPVLen")
    perspective: int | None = setting(BLACK, accepts=Text(_perspective), katago="reportAnalysisWinratesAs")
    doublings_of: int | None = setting(None, accepts=Text(_perspective), katago="playoutDoublingAdvantagePla")

    def with_values(self, values: Mapping[str, Any]) -> "tuple[QuerySettings, dict[str, Any]]":
        """Returns settings with these values, which are given by KataGo's names, and the values of other names."""
        known = {item.metadata["katago"]: item for item in settings_of(self).values()}
        own = {name: value for name, value in values.items() if name in known}
        parsed = {known[name].name: known[name].metadata["accepts"].parse(name, value) for name, value in own.items()}
        return replace(self, **parsed), {name: value for name, value in values.items() if name not in known}


@dataclass(frozen=True)
class Defaults:
    """What applies unless a query overrides it."""

    parameters: Callable[[int, int], SearchParameters]  # those of the search for boards of a width and height
    largest_board: int  # its side, in points
    settings: QuerySettings
    takes_profile: bool = False  # whether the network imitates humans: a profile has to be named here or in the query
    has_human_model: bool = False  # whether a second network imitates humans, by the profiles of queries


@dataclass(frozen=True)
class Query:
    """One query: a game, the positions of it to search, and how to search them."""

    id: str
    request: SearchRequest  # the search before the first move; those of the other positions differ in `game` only
    moves: tuple[Move, ...]
    turns: dict[int, int]  # the priority of each position, by its number, in ascending order
    wanted: frozenset[str]  # the names of the "include" fields that are true
    settings: QuerySettings
    human_profile: str  # for the human model; empty for none
    warnings: tuple[tuple[str, str], ...]  # pairs of a field and a warning about it

    def check_moves(self) -> None:
        """Raises QueryError if a move cannot be played."""
        game = self.request.game.copy()
        for number in range(len(self.moves)):
            self.play(game, number)

    def request_for(self, game: Game) -> SearchRequest:
        """Returns the search of a position, with a named player's advantage as that of the side to move."""
        request, parameters = replace(self.request, game=game), self.request.parameters
        if parameters is None or self.settings.doublings_of in (None, game.to_move):
            return request
        opposite = -parameters.playout_doubling_advantage
        return replace(request, parameters=replace(parameters, playout_doubling_advantage=opposite))

    def play(self, game: Game, number: int) -> None:
        """Plays the move with this number, from 0; raises QueryError if KataGo refuses it too.

        KataGo replays games by its makeBoardMoveTolerant, since the rules of a query need not be those of the game.
        """
        try:
            game.play(*self.moves[number], tolerant=True)
        except IllegalMove:
            name = game.vertex(self.moves[number].point)
            raise QueryError("moves", f"Illegal move {number}: {name}") from None


def parse_query(fields: dict[str, Any], defaults: Defaults) -> Query:
    """Returns the query in these fields, with an `id`; QueryError if one is invalid. The moves may be illegal."""
    game = _GameFields(fields, defaults.largest_board)
    moves = game.moves("moves")
    start = game.start(moves)
    numbers = {name: _number(fields, name, accepted) for name, accepted in _NUMBERS.items() if name in fields}
    turns = _turns(fields, len(moves), int(numbers.get("priority", 0)))
    for name in _FLAGS:
        if not isinstance(fields.get(name, False), bool):
            raise QueryError(name, "Must be a boolean")
    wanted = frozenset(name for name in _FLAGS if fields.get(name))
    settings, parameters, unknown = _settings(fields, numbers, defaults, defaults.parameters(game.width, game.height))
    human_profile = ""
    if defaults.has_human_model and not defaults.takes_profile:
        human_profile, parameters = parameters.profile, replace(parameters, profile="")
    with _named("overrideSettings", "Could not set settings: "):
        check_profile("the network", defaults.takes_profile, parameters.profile)
    request = SearchRequest(
        start,
        Limits(settings.visits, settings.seconds),
        game.root_moves(),
        parameters,
        ownership=not wanted.isdisjoint({"includeOwnership", "includeOwnershipStdev"}),
        moves_ownership=not wanted.isdisjoint({"includeMovesOwnership", "includeOwnershipStdev"}),
        interval=numbers.get("reportDuringSearchEvery"),
        first_report=numbers.get("firstReportDuringSearchAfter"),
        # Clients that ask for many positions want their values, which still change when the best move is settled.
        early_stop=False,
    )
    warnings = [("overrideSettings", f"Unknown config params: {','.join(unknown)}")] if unknown else []
    warnings += [(name, text) for name, text in _FLAG_WARNINGS.items() if name in wanted]
    unused = sorted(fields.keys() - _FIELDS)
    warnings += [(name, "Unexpected or unused field, do you have a typo?") for name in unused]
    return Query(fields["id"], request, moves, turns, wanted, settings, human_profile, tuple(warnings))


# The game.


class _GameFields:
    """The fields of a query that depend on its board."""

    def __init__(self, fields: dict[str, Any], largest: int) -> None:
        self.fields = fields
        sides = Range(MIN_SIZE, largest, whole=True)
        self.width, self.height = (int(_number(fields, name, sides)) for name in ("boardXSize", "boardYSize"))

    def moves(self, name: str) -> tuple[Move, ...]:
        """Returns the moves or stones in a field."""
        if name not in self.fields:
            raise QueryError(name, "Must specify an array of [player,location] pairs")
        pairs = self.fields[name]
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise QueryError(name, _MOVES_FORM)
        if len(pairs) > MOST_MOVES:
            raise QueryError(name, f"Must have at most {MOST_MOVES} entries")
        return tuple(Move(self._player(name, player), self._point(name, location)) for player, location in pairs)

    def _player(self, name: str, text: object) -> int:
        with _named(name, f"Could not parse player: {str(text)[:60]}", with_error=False):
            return parse_colour(str(text))

    def _point(self, name: str, text: object) -> int:
        """Returns a point, by its vertex or in KataGo's other form, "(column,row)" counted from 0 at the top left."""
        place = re.fullmatch(r"\((\d{1,3}),(\d{1,3})\)", str(text), re.ASCII)
        if place is not None and int(place[1]) < self.width and int(place[2]) < self.height:
            return point_at(int(place[1]), int(place[2]), self.width)
        with _named(name, f"Could not parse board location: {str(text)[:60]}", with_error=False):
            return parse_vertex(str(text), self.width, self.height)

    def start(self, moves: tuple[Move, ...]) -> Game:
        """Returns the position before the moves."""
        stones = dict.fromkeys(self.moves("initialStones")) if "initialStones" in self.fields else {}
        if any(stone.point == PASS for stone in stones):
            raise QueryError("initialStones", "Could not parse board location: pass")
        rules = self._rules()
        game = Game(self.width, self.height, rules=rules, komi=self._komi(rules))
        colours = {colour: [stone.point for stone in stones if stone.colour == colour] for colour in (BLACK, WHITE)}
        with _named("initialStones"):
            game.set_up(colours[BLACK], colours[WHITE])
        game.to_move = moves[0].colour if moves else WHITE if game.handicap else BLACK
        if "initialPlayer" in self.fields:
            with _named("initialPlayer", 'Must be "b" or "w"', with_error=False):
                game.to_move = parse_colour(str(self.fields["initialPlayer"]))
        return game

    def _rules(self) -> Rules:
        given, bonus = self.fields.get("rules"), self.fields.get("whiteHandicapBonus")
        if not isinstance(given, str | dict):
            raise QueryError("rules", _RULES_FORM)
        with _named("rules", "Could not parse rules: "):
            rules = parse_rules(given if isinstance(given, str) else json.dumps(given))
        if bonus is None:
            return rules
        if bonus not in PART_VALUES["whiteHandicapBonus"]:
            raise QueryError("whiteHandicapBonus", f"Must be one of {', '.join(PART_VALUES['whiteHandicapBonus'])}")
        return with_part(rules, "whiteHandicapBonus", bonus)

    def _komi(self, rules: Rules) -> float:
        if "komi" not in self.fields:  # KataGo's guess
            return 6.5 if rules.scoring == "TERRITORY" else 7.0 if rules.has_button else 7.5
        accepted = Range(-_LARGEST_KOMI, _LARGEST_KOMI, noun="whole or half number")
        komi = _number(self.fields, "komi", accepted)
        if not float(2 * komi).is_integer():
            raise QueryError("komi", f"Must be {accepted}")
        return komi

    def root_moves(self) -> RootMoves:
        """Returns which moves the search may consider."""
        given = [name for name in ("avoidMoves", "allowMoves") if name in self.fields]
        if len(given) == 2:
            raise QueryError("allowMoves", "Cannot specify both allowMoves and avoidMoves")
        if not given:
            return RootMoves()
        restrictions = self.fields[given[0]]
        if not isinstance(restrictions, list):
            raise QueryError(given[0], _RESTRICTIONS_FORM)
        parsed = [self._restriction(given[0], restriction) for restriction in restrictions]
        listed = tuple((player, point, depth) for player, points, depth in parsed for point in points)
        if given[0] == "avoidMoves":
            return RootMoves(avoid=listed)
        if len({player for player, _, _ in parsed}) < len(parsed):
            raise QueryError(given[0], "Cannot specify allowMoves more than once for the same player")
        # An empty list allows nothing at all, not even a pass.
        moves = [*all_points(self.width, self.height), PASS]
        forbidden = tuple((player, move, depth) for player, points, depth in parsed if not points for move in moves)
        return RootMoves(avoid=forbidden, allow=listed)

    def _restriction(self, name: str, restriction: object) -> tuple[int, list[int], int]:
        """Returns player, points and depth of one entry."""
        if not isinstance(restriction, dict) or not {"player", "moves", "untilDepth"} <= restriction.keys():
            raise QueryError(name, _RESTRICTIONS_FORM)
        locations, depth = restriction["moves"], restriction["untilDepth"]
        if not isinstance(locations, list):
            raise QueryError(name, "Must be an array of GTP board vertices")
        if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
            raise QueryError(name, "Must be a positive integer")
        player = self._player(name, restriction["player"])
        return player, [self._point(name, location) for location in locations], depth


# The positions and the search.


def _turns(fields: dict[str, Any], last: int, priority: int) -> dict[int, int]:
    """Returns the priorities of the turns to search, in ascending order."""
    turns = _integers(fields, "analyzeTurns", "Must specify an array of integers indicating turns to analyze")
    priorities = _integers(fields, "priorities", "Must specify an array of integers indicating priorities")
    if turns == []:
        raise QueryError("analyzeTurns", "Must name at least one turn")
    for turn in turns or ():
        if not 0 <= turn <= last:
            raise QueryError("analyzeTurns", f"Invalid turn number: {turn}")
    if priorities is None:
        return dict.fromkeys([last] if turns is None else sorted(turns), priority)
    if "priority" in fields:
        raise QueryError("priority", "Cannot specify both priority and priorities")
    if turns is None:
        raise QueryError("priorities", "Can only specify when also specifying analyzeTurns")
    if len(priorities) != len(turns):
        raise QueryError("priorities", "Must be of matching length to analyzeTurns")
    return dict(sorted(zip(turns, priorities, strict=True), key=lambda pair: pair[0]))  # of a turn's the last one


def _settings(
    fields: dict[str, Any], numbers: dict[str, Any], defaults: Defaults, parameters: SearchParameters
) -> tuple[QuerySettings, SearchParameters, list[str]]:
    """Returns the settings of a query, the search parameters, and the unknown names in `overrideSettings`."""
    given = fields.get("overrideSettings", {})
    if not isinstance(given, dict):
        raise QueryError("overrideSettings", "Must be an object")
    unknown = []
    with _named("overrideSettings", "Could not set settings: "):
        settings, others = defaults.settings.with_values(given)
        for name, value in others.items():
            if name in KNOWN_NAMES:
                parameters = parameters.with_value(name, value)
            else:
                unknown.append(name)
    settings, others = settings.with_values(numbers)  # fields of the query come first
    if "rootPolicyTemperature" in others:
        parameters = replace(parameters, early_root_policy_temperature=0.0)  # the field is for the whole game
    for name in ("rootFpuReductionMax", "rootPolicyTemperature"):
        if name in others:
            parameters = parameters.with_value(name, others[name])
    return settings, parameters, unknown


# Values of fields.


@contextmanager
def _named(field_name: str, text: str = "", *, with_error: bool = True) -> Iterator[None]:
    """Turns an error about a value into one about its field, with a text before it or in its place."""
    try:
        yield
    except UserError as error:
        raise QueryError(field_name, f"{text}{error}" if with_error else text) from None


def _number(fields: dict[str, Any], name: str, accepted: Range) -> float:
    with _named(name, f"Must be {accepted}", with_error=False):
        return accepted.parse(name, fields.get(name), from_text=False)


def _integers(fields: dict[str, Any], name: str, form: str) -> list[int] | None:
    """Returns the integers in a field; None if it is missing."""
    values = fields.get(name, [])
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise QueryError(name, form)
    return values if name in fields else None


def turn_numbers(fields: dict[str, Any]) -> frozenset[int] | None:
    """Returns the turns that an action is for, None for all; raises QueryError if they are not integers."""
    form = "If provided, must be an array of integers indicating turns to terminate"
    turns = _integers(fields, "turnNumbers", form)
    return None if turns is None else frozenset(turns)
