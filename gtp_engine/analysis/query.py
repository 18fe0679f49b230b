"""A query of KataGo's JSON analysis protocol, checked field by field.

Fields, their ranges and what is an error or a warning follow KataGo's docs/Analysis_Engine.md.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.errors import UserError
from ..base.fields import Range, parse_number, parse_word
from ..evaluate.human_profile import check_profile
from ..game.coords import BLACK, MIN_SIZE, PASS, WHITE, all_points, parse_colour, parse_vertex
from ..game.game import MOST_MOVES, Game, IllegalMove, Move
from ..game.rules import PART_VALUES, Rules, parse_rules, with_part
from ..search.parameters import SearchParameters, find_parameter
from ..search.request import Limits, RootMoves, SearchRequest

# KataGo's default in analysis (its configs/analysis_example.cfg).
WIDE_ROOT_NOISE = 0.04
PERSPECTIVES = {"BLACK": BLACK, "B": BLACK, "WHITE": WHITE, "W": WHITE, "SIDETOMOVE": None}
_LARGEST_KOMI = 400.0
_MOST_VISITS = 2**50
_HIGHEST_PRIORITY = 2**62 - 1
_PV_LENGTH = 15
_COORDINATE_DIGITS = 4  # of a column and a row together
_FLAGS = (
    "includeOwnership",
    "includeOwnershipStdev",
    "includeMovesOwnership",
    "includeMovesOwnershipStdev",
    "includePolicy",
    "includePVVisits",
    "includeNoResultValue",
)
_FLAG_WARNINGS = {
    "includeOwnershipStdev": "The deviation between the moves at the root only, not over the whole tree",
    "includeMovesOwnershipStdev": "Not computed: the tree keeps no spread for each move",
    "includeNoResultValue": "Always 0: the tree does not keep it",
}
_FIELDS = {
    *("id", "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus", "boardXSize"),
    *("boardYSize", "analyzeTurns", "maxVisits", "rootPolicyTemperature", "rootFpuReductionMax", "analysisPVLen"),
    *("avoidMoves", "allowMoves", "overrideSettings", "reportDuringSearchEvery"),
    *("firstReportDuringSearchAfter", "priority", "priorities"),
    *_FLAGS,
}
_MOVES_FORM = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'
_RESTRICTIONS_FORM = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'"
_RULES_FORM = 'Must be the name of a ruleset such as "chinese" or "tromp-taylor", or a JSON object of its parts'


class QueryError(UserError):
    """An invalid field of a query. `field` is its name."""

    def __init__(self, field_name: str, text: str) -> None:
        super().__init__(text)
        self.field = field_name


@dataclass(frozen=True)
class Defaults:
    """The settings that apply unless a query overrides them.

    Attributes:
        parameters: Returns the search parameters for boards of a width and height.
        limits: The limits of a search.
        largest_board: The largest accepted board side, in points.
        wide_root_noise: KataGo's parameter of that name.
        perspective: BLACK, WHITE, or None for the side to move.
        takes_profile: Whether the network imitates humans, so that a profile has to be named here or in the query.
        has_human_model: Whether there is a second network that imitates humans, to which the profiles of queries apply.
    """

    parameters: Callable[[int, int], SearchParameters]
    limits: Limits
    largest_board: int
    wide_root_noise: float = WIDE_ROOT_NOISE
    perspective: int | None = BLACK
    takes_profile: bool = False
    has_human_model: bool = False


@dataclass(frozen=True)
class Query:
    """One query: a game, the positions of it to search, and how to search them.

    Attributes:
        id: The client's name for it.
        request: The search of the position before the first move; those of the other positions differ in `game` only.
        moves: The game's moves.
        turns: The numbers of the positions, in ascending order.
        priorities: The priority of each turn.
        wanted: The names of the "include" fields that are true.
        perspective: BLACK, WHITE, or None for the side to move.
        pv_length: The largest number of moves of a main line after the first.
        human_profile: The profile for the human model; empty for none.
        warnings: Pairs of a field and a warning about it.
    """

    id: str
    request: SearchRequest
    moves: tuple[Move, ...]
    turns: tuple[int, ...]
    priorities: tuple[int, ...]
    wanted: frozenset[str]
    perspective: int | None
    pv_length: int
    human_profile: str = ""
    warnings: tuple[tuple[str, str], ...] = field(default=())

    def check_moves(self) -> None:
        """Raises QueryError if a move cannot be played."""
        game = self.request.game.copy()
        for number in range(len(self.moves)):
            self.play(game, number)

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
    """Returns the query in these fields, whose `id` is a text. Whether the moves are legal is not checked.

    Raises:
        QueryError: A field is invalid.
    """
    return _Parser(fields, defaults).query()


class _Parser:
    """The fields of one query on their way to a `Query`."""

    def __init__(self, fields: dict[str, Any], defaults: Defaults) -> None:
        self.fields = fields
        self.defaults = defaults
        self.warnings: list[tuple[str, str]] = []
        self.limits = defaults.limits
        self.perspective = defaults.perspective
        self.wide_root_noise = defaults.wide_root_noise
        self.pv_length = _PV_LENGTH
        self.human_profile = ""

    def query(self) -> Query:
        self.width = self._board_side("boardXSize")
        self.height = self._board_side("boardYSize")
        self.parameters = self.defaults.parameters(self.width, self.height)
        moves = self._moves("moves", required=True)
        start = self._start(moves)
        turns, priorities = self._turns(len(moves))
        self._override_settings()
        self._search_fields()
        wanted = frozenset(name for name in _FLAGS if self._flag(name))
        self.warnings += [(name, text) for name, text in _FLAG_WARNINGS.items() if name in wanted]
        interval, first_report = (
            self._number(name, 0.001, 1e6, "Must be a number of seconds from 0.001 to 1e6")
            for name in ("reportDuringSearchEvery", "firstReportDuringSearchAfter")
        )
        root_moves = self._root_moves()
        self._widen_root()
        for name in sorted(self.fields.keys() - _FIELDS):
            self.warnings.append((name, "Unexpected or unused field, do you have a typo?"))
        request = SearchRequest(
            start,
            self.limits,
            root_moves,
            self.parameters,
            ownership=not wanted.isdisjoint({"includeOwnership", "includeOwnershipStdev"}),
            moves_ownership=not wanted.isdisjoint({"includeMovesOwnership", "includeOwnershipStdev"}),
            interval=interval,
            first_report=first_report,
            # Clients that ask for many positions want their values, which still change when the best move is settled.
            early_stop=False,
        )
        warnings = tuple(self.warnings)
        return Query(
            self.fields["id"],
            request,
            moves,
            turns,
            priorities,
            wanted,
            self.perspective,
            self.pv_length,
            self.human_profile,
            warnings,
        )

    # The game.

    def _board_side(self, name: str) -> int:
        largest = self.defaults.largest_board
        side = self._integer(name, MIN_SIZE, largest, f"Must provide an integer from {MIN_SIZE} to {largest}")
        if side is None:
            raise QueryError(name, f"Must provide an integer from {MIN_SIZE} to {largest}")
        return side

    def _moves(self, name: str, *, required: bool) -> tuple[Move, ...]:
        if name not in self.fields:
            if required:
                raise QueryError(name, "Must specify an array of [player,location] pairs")
            return ()
        pairs = self.fields[name]
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise QueryError(name, _MOVES_FORM)
        if len(pairs) > MOST_MOVES:
            raise QueryError(name, f"Must have at most {MOST_MOVES} entries")
        return tuple(Move(self._player(name, player), self._point(name, location)) for player, location in pairs)

    def _player(self, name: str, text: object) -> int:
        try:
            return parse_colour(str(text))
        except UserError:
            raise QueryError(name, f"Could not parse player: {str(text)[:60]}") from None

    def _point(self, name: str, text: object) -> int:
        try:
            return parse_vertex(_vertex_of(str(text), self.height), self.width, self.height)
        except UserError:
            raise QueryError(name, f"Could not parse board location: {str(text)[:60]}") from None

    def _start(self, moves: tuple[Move, ...]) -> Game:
        stones = dict.fromkeys(self._moves("initialStones", required=False))
        if any(stone.point == PASS for stone in stones):
            raise QueryError("initialStones", "Could not parse board location: pass")
        rules = self._rules()
        game = Game(self.width, self.height, rules=rules, komi=self._komi(rules))
        colours = {colour: [stone.point for stone in stones if stone.colour == colour] for colour in (BLACK, WHITE)}
        try:
            game.set_up(colours[BLACK], colours[WHITE])
        except UserError as error:
            raise QueryError("initialStones", str(error)) from None
        game.to_move = self._first_player(moves, game.handicap)
        return game

    def _first_player(self, moves: tuple[Move, ...], handicap: int) -> int:
        if "initialPlayer" in self.fields:
            player = self.fields["initialPlayer"]
            try:
                return parse_colour(str(player))
            except UserError:
                raise QueryError("initialPlayer", 'Must be "b" or "w"') from None
        if moves:
            return moves[0].colour
        return WHITE if handicap else BLACK

    def _rules(self) -> Rules:
        given = self.fields.get("rules")
        if not isinstance(given, str | dict):
            raise QueryError("rules", _RULES_FORM)
        try:
            rules = parse_rules(given if isinstance(given, str) else json.dumps(given))
        except UserError as error:
            raise QueryError("rules", f"Could not parse rules: {error}") from None
        bonus = self.fields.get("whiteHandicapBonus")
        if bonus is None:
            return rules
        if bonus not in PART_VALUES["whiteHandicapBonus"]:
            raise QueryError("whiteHandicapBonus", f"Must be one of {', '.join(PART_VALUES['whiteHandicapBonus'])}")
        return with_part(rules, "whiteHandicapBonus", bonus)

    def _komi(self, rules: Rules) -> float:
        form = f"Must be an integer or half-integer from -{_LARGEST_KOMI} to {_LARGEST_KOMI}"
        komi = self._number("komi", -_LARGEST_KOMI, _LARGEST_KOMI, form)
        if komi is None:  # KataGo's guess
            return 6.5 if rules.scoring == "TERRITORY" else 7.0 if rules.has_button else 7.5
        if not float(2 * komi).is_integer():
            raise QueryError("komi", form)
        return komi

    # The positions.

    def _turns(self, last: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        turns = self._integers("analyzeTurns", "Must specify an array of integers indicating turns to analyze")
        priorities = self._integers("priorities", "Must specify an array of integers indicating priorities")
        if turns == []:
            raise QueryError("analyzeTurns", "Must name at least one turn")
        for turn in turns or ():
            if not 0 <= turn <= last:
                raise QueryError("analyzeTurns", f"Invalid turn number: {turn}")
        form = f"Must be a number between -{_HIGHEST_PRIORITY} and {_HIGHEST_PRIORITY}"
        priority = self._integer("priority", -_HIGHEST_PRIORITY, _HIGHEST_PRIORITY, form)
        chosen = tuple(sorted(set(turns))) if turns is not None else (last,)
        if priorities is None:
            return chosen, (priority or 0,) * len(chosen)
        if priority is not None:
            raise QueryError("priority", "Cannot specify both priority and priorities")
        if turns is None:
            raise QueryError("priorities", "Can only specify when also specifying analyzeTurns")
        if len(priorities) != len(turns):
            raise QueryError("priorities", "Must be of matching length to analyzeTurns")
        of_turn = dict(zip(turns, priorities, strict=True))
        return chosen, tuple(of_turn[turn] for turn in chosen)

    # The search.

    def _override_settings(self) -> None:
        settings = self.fields.get("overrideSettings", {})
        if not isinstance(settings, dict):
            raise QueryError("overrideSettings", "Must be an object")
        unknown = []
        for name, value in settings.items():
            try:
                if not self._override(name, value):
                    unknown.append(name)
            except UserError as error:
                raise QueryError("overrideSettings", f"Could not set settings: {error}") from None
        if self.defaults.has_human_model and not self.defaults.takes_profile:
            self.human_profile = self.parameters.profile
            self.parameters = replace(self.parameters, profile="")
        try:
            check_profile("the network", self.defaults.takes_profile, self.parameters.profile)
        except UserError as error:
            raise QueryError("overrideSettings", f"Could not set settings: {error}") from None
        if unknown:
            self.warnings.append(("overrideSettings", f"Unknown config params: {','.join(unknown)}"))

    def _override(self, name: str, value: Any) -> bool:
        """Applies one setting; returns False if it is unknown. Raises UserError if its value is invalid."""
        if name == "reportAnalysisWinratesAs":
            self.perspective = PERSPECTIVES[parse_word(name, str(value).upper(), PERSPECTIVES)]
        elif name == "wideRootNoise":
            self.wide_root_noise = parse_number(name, value, Range(0, 5))
        elif name == "maxTime":
            self.limits = replace(self.limits, seconds=parse_number(name, value, Range(0, 1e20)))
        elif name == "maxVisits":
            self.limits = replace(self.limits, visits=int(parse_number(name, value, Range(1, _MOST_VISITS))))
        elif name == "analysisPVLen":
            self.pv_length = int(parse_number(name, value, Range(1, 1000)))
        else:
            try:
                found = find_parameter(name)
            except UserError:
                return False
            self.parameters = self.parameters.with_value(found, value)
        return True

    def _search_fields(self) -> None:
        visits = self._integer("maxVisits", 1, _MOST_VISITS, "Must be an integer from 1 to 2^50")
        if visits is not None:
            self.limits = replace(self.limits, visits=visits)
        length = self._integer("analysisPVLen", 1, 1000, "Must be an integer from 1 to 1000")
        if length is not None:
            self.pv_length = length
        reduction = self._number("rootFpuReductionMax", 0, 2, "Must be a number from 0.0 to 2.0")
        if reduction is not None:
            self.parameters = replace(self.parameters, root_fpu_reduction=reduction)
        temperature = self._number("rootPolicyTemperature", 0.01, 100, "Must be a number from 0.01 to 100.0")
        if temperature is not None:
            self.parameters = replace(self.parameters, root_policy_temperature=temperature)

    def _widen_root(self) -> None:
        """Adds KataGo's wide root noise to the root's temperature."""
        try:
            self.parameters = self.parameters.widened(self.wide_root_noise)
        except UserError as error:
            name = "rootPolicyTemperature" if "rootPolicyTemperature" in self.fields else "overrideSettings"
            raise QueryError(name, f"Must be less with wideRootNoise {self.wide_root_noise:g}: {error}") from None

    def _root_moves(self) -> RootMoves:
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

    # Values of fields; None for a field that is missing.

    def _integer(self, name: str, low: int, high: int, form: str) -> int | None:
        value = self._number(name, low, high, form, whole=True)
        return None if value is None else int(value)

    def _number(self, name: str, low: float, high: float, form: str, *, whole: bool = False) -> float | None:
        if name not in self.fields:
            return None
        try:
            return parse_number(name, self.fields[name], Range(low, high, whole=whole), from_text=False)
        except UserError:
            raise QueryError(name, form) from None

    def _flag(self, name: str) -> bool:
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise QueryError(name, "Must be a boolean")
        return value

    def _integers(self, name: str, form: str) -> list[int] | None:
        if name not in self.fields:
            return None
        values = self.fields[name]
        if not isinstance(values, list) or not all(type(value) is int for value in values):
            raise QueryError(name, form)
        return values


def _vertex_of(text: str, height: int) -> str:
    """Returns GTP's vertex of a location in KataGo's other form, "(column,row)" counted from 0 at the top left."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    column, _, row = text[1:-1].partition(",")
    letters = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
    if not (column.isdecimal() and row.isdecimal()) or len(column + row) > _COORDINATE_DIGITS:
        return text
    if int(column) >= len(letters):
        return text
    return f"{letters[int(column)]}{height - int(row)}"


def turn_numbers(fields: dict[str, Any]) -> frozenset[int] | None:
    """Returns the turns that an action is for, None for all; raises QueryError if they are not integers."""
    if "turnNumbers" not in fields:
        return None
    turns = fields["turnNumbers"]
    if not isinstance(turns, list) or not all(type(turn) is int for turn in turns):
        raise QueryError("turnNumbers", "If provided, must be an array of integers indicating turns to terminate")
    return frozenset(turns)
