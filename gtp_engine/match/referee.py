"""One game between two GTP engines, refereed by our own rules and our own clock.

An engine loses the game it spoils: by an illegal move, a crash, silence, an answer that is none, a refusal of what is
legal, or by overstepping the time. After two passes the referee counts. A stone is dead where its own side's engine
says so. One that only the opponent takes for dead lives unless it is captured: under area rules both play on for that
once, where both know how. Under rules like Tromp and Taylor's all stones stand.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..game.coords import BLACK, EMPTY, PASS, WHITE, colour_letter, colour_name, opponent, parse_vertex, vertex
from ..game.game import Game, IllegalMove, Move
from ..game.rules import RULESETS, Rules, rules_name
from ..game.scoring import Score, final_score
from ..search.clock import NO_LIMIT, Clock, TimeSettings
from .gtp_client import CommandError, EngineDiedError, EngineError, EngineGarbageError, GtpClient

# Seconds by which a move may overstep the time: what pipes and a busy machine take, and no fault of the engine.
LEEWAY = 0.1
# How KGS has engines play on where they disagree about dead stones: as genmove, but they capture before they pass.
PLAY_ON = "kgs-genmove_cleanup"
# An engine that has overstepped its time is waited for so long before it is ended: most just think a little longer.
OVERTIME_PATIENCE = 5.0


@dataclass(frozen=True)
class Conditions:
    """What a game is played under.

    time: one of the systems that GTP's `time_settings` can say (none, absolute, canadian).
    move_cap: moves of both after which the game ends without a winner.
    patience: seconds after which an engine without a clock counts as silent, at any command.
    """

    width: int
    height: int
    komi: float
    rules: Rules = RULESETS["chinese"]
    time: TimeSettings = NO_LIMIT
    move_cap: int = 1000
    patience: float = 300.0


@dataclass(frozen=True)
class Outcome:
    """How a game ended.

    winner: BLACK, WHITE, or EMPTY for a draw or none. result: as in SGF (`B+3.5`, `W+R`, `B+T`, `B+F`, `0`, `Void`).
    reason: score, resignation, time, illegal move, crash, silence, garbage, refusal or move cap.
    seconds: time used by each colour. claims: what each colour's engine answered to `final_score`, where it did.
    notes: one line for each thing that went wrong, disagreement about the score among them.
    """

    game: Game
    winner: int
    result: str
    reason: str
    seconds: dict[int, float]
    claims: dict[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class _ForfeitError(Exception):
    """The game is over by a fault of `colour`."""

    def __init__(self, colour: int, reason: str, note: str) -> None:
        super().__init__(note)
        self.colour = colour
        self.reason = reason


def play_game(black: GtpClient, white: GtpClient, opening: Sequence[Move], conditions: Conditions) -> Outcome:
    """Plays one game from the position after `opening` and blocks until it is over.

    Raises EngineError where an engine refuses board size, komi or rules: such a match makes no sense.
    """
    table = _Table({BLACK: black, WHITE: white}, conditions)
    try:
        table.set_up(opening)
        return table.play()
    except _ForfeitError as fault:
        winner = opponent(fault.colour)
        letter = "T" if fault.reason == "time" else "F"
        table.notes.append(str(fault))
        return table.outcome(winner, f"{colour_letter(winner)}+{letter}", fault.reason)


class _Table:
    """One game on its way."""

    def __init__(self, players: dict[int, GtpClient], conditions: Conditions) -> None:
        self.players = players
        self.conditions = conditions
        self.game = Game(conditions.width, conditions.height, rules=conditions.rules, komi=conditions.komi)
        self.clock = Clock(conditions.time)
        self.seconds = {BLACK: 0.0, WHITE: 0.0}
        self.notes: list[str] = []

    def set_up(self, opening: Sequence[Move]) -> None:
        width, height = self.conditions.width, self.conditions.height
        # GNU Go takes `boardsize 5 7` for 5x5; an engine without oblong boards refuses the other command.
        size = f"boardsize {width}" if width == height else f"rectangular_boardsize {width} {height}"
        rules = rules_name(self.conditions.rules) or self.conditions.rules.to_json()
        for colour, player in self.players.items():
            commands = [size, "clear_board", f"komi {self.conditions.komi:g}"]
            if player.knows("kata-set-rules"):
                commands.append(f"kata-set-rules {rules}")
            if player.knows("time_settings") and self.conditions.time != NO_LIMIT:
                commands.append(f"time_settings {_time_arguments(self.conditions.time)}")
            for command in commands:
                self.ask(colour, command)
        for move in opening:
            self.game.play(*move)
            for colour in self.players:
                self.tell(colour, move)

    def play(self) -> Outcome:
        outcome = self.play_to_passes("genmove")
        if outcome is not None:
            return outcome
        dead = self.dead_stones()
        if self.are_disputed(dead):
            self.notes.append("the engines disagreed about dead stones" + " and played on" * self.can_play_on)
            if self.can_play_on:
                outcome = self.play_to_passes(PLAY_ON)
                if outcome is not None:
                    return outcome
                dead |= self.dead_stones()
        return self.counted(self.given_up(dead))

    def play_to_passes(self, command: str) -> Outcome | None:
        """Plays until two passes in a row from now on; the outcome where the game ends otherwise."""
        begun = len(self.game.moves)
        while not self.game.is_over or len(self.game.moves) < begun + 2:
            if len(self.game.moves) >= self.conditions.move_cap:
                if command == PLAY_ON:
                    return None  # it was over before: what stands is counted
                return self.outcome(EMPTY, "Void", "move cap")
            colour = self.game.to_move
            point = self.next_move(colour, command)
            if point is None:
                winner = opponent(colour)
                return self.outcome(winner, f"{colour_letter(winner)}+R", "resignation")
            self.game.play(colour, point)
            self.tell(opponent(colour), Move(colour, point))
        return None

    def ask(self, colour: int, command: str, timeout: float | None = None) -> str:
        """The engine's answer; an engine that fails loses. Raises CommandError where it answers with an error."""
        try:
            return self.players[colour].send(command, self.conditions.patience if timeout is None else timeout)
        except CommandError:
            raise
        except EngineError as error:
            raise _ForfeitError(colour, _fault(error), str(error)) from error

    def tell(self, colour: int, move: Move) -> None:
        """Plays a move on an engine's board."""
        name = vertex(move.point, self.game.width, self.game.height)
        try:
            self.ask(colour, f"play {colour_letter(move.colour).lower()} {name}")
        except CommandError as error:
            raise _ForfeitError(colour, "refusal", f"{error} ({name} is legal)") from error

    def next_move(self, colour: int, command: str) -> int | None:
        """The point that the player chooses, which is legal; None when it resigns."""
        answer = self.think(colour, command)
        if answer.lower() == "resign":
            return None
        who = f"{self.players[colour].name} ({colour_name(colour)})"
        try:
            point = parse_vertex(answer, self.game.width, self.game.height)
        except ValueError:
            raise _ForfeitError(colour, "garbage", f"{who} answered {command} with {answer[:60]!r}") from None
        if not self.game.is_legal(point):
            why = _why_illegal(self.game, colour, point)
            raise _ForfeitError(colour, "illegal move", f"{who} at move {len(self.game.moves) + 1}: {why}")
        return point

    def think(self, colour: int, command: str) -> str:
        """The answer to genmove or its like, within the time that the clock leaves."""
        player, allowed = self.players[colour], self.time_allowed(colour)
        left = self.clock.remaining(colour)
        if left is not None and player.knows("time_left"):
            try:
                self.ask(colour, f"time_left {colour_letter(colour).lower()} {int(left[0])} {left[1]}")
            except CommandError as error:
                raise _ForfeitError(colour, "refusal", str(error)) from error
        timeout = None if allowed is None else allowed + LEEWAY + OVERTIME_PATIENCE
        start = time.monotonic()
        try:
            answer = self.ask(colour, f"{command} {colour_letter(colour).lower()}", timeout)
        except CommandError as error:
            raise _ForfeitError(colour, "refusal", str(error)) from error
        except _ForfeitError as fault:
            if allowed is not None and fault.reason == "silence":
                fault.reason = "time"
            raise
        finally:
            spent = time.monotonic() - start
            self.seconds[colour] += spent
        if allowed is not None and spent > allowed + LEEWAY:
            note = f"{player.name} ({colour_name(colour)}) thought {spent:.2f} s and had {allowed:.2f} s left"
            raise _ForfeitError(colour, "time", note)
        self.clock.charge(colour, spent)
        return answer

    def time_allowed(self, colour: int) -> float | None:
        """Seconds until the flag falls; None without a clock."""
        left = self.clock.remaining(colour)
        if left is None:
            return None
        seconds, stones = left
        settings = self.conditions.time
        return seconds + settings.period if stones == 0 and settings.has_overtime else seconds

    @property
    def can_play_on(self) -> bool:
        """Whether dead stones can be captured after two passes: that costs no points, and both engines know how."""
        by_area = self.conditions.rules.scoring == "AREA"
        return by_area and all(player.knows(PLAY_ON) for player in self.players.values())

    def dead_stones(self) -> dict[int, set[int]]:
        """The dead stones of both colours as each colour's engine sees them, where it answers."""
        seen: dict[int, set[int]] = {}
        if self.conditions.rules.stones_stand:
            return seen
        for colour in self.players:
            answer = self.opinion(colour, "final_status_list dead")
            if answer is not None:
                try:
                    seen[colour] = self.parse_stones(answer)
                except ValueError as error:
                    self.notes.append(f"{self.players[colour].name} could not name the dead stones: {error}")
        return seen

    def are_disputed(self, dead: dict[int, set[int]]) -> bool:
        """Whether an engine takes stones for dead that the other does not give up."""
        return bool(set().union(*dead.values()) - self.given_up(dead))

    def given_up(self, dead: dict[int, set[int]]) -> set[int]:
        """The stones that their own side's engine takes for dead; where it has no word the other's counts."""
        return {
            point
            for colour in self.players
            for point in dead.get(colour, dead.get(opponent(colour), set()))
            if self.game.stone_at(point) == colour
        }

    def counted(self, dead: set[int]) -> Outcome:
        """The outcome by counting without the dead stones."""
        margin = final_score(self.game, dead)
        claims = {}
        for colour in self.players:
            claim = self.opinion(colour, "final_score")
            if claim is None:
                continue
            claims[colour] = claim
            if not _same_score(claim, margin):
                self.notes.append(f"{self.players[colour].name} scored {claim}, the referee {Score(margin)}")
        winner = BLACK if margin > 0 else WHITE if margin < 0 else EMPTY
        return self.outcome(winner, str(Score(margin)), "score", claims)

    def opinion(self, colour: int, command: str) -> str | None:
        """What an engine answers about the finished game; None, and perhaps a note, where it can't."""
        player = self.players[colour]
        if not player.usable or not player.knows(command.split()[0]):
            return None
        try:
            return self.ask(colour, command)
        except (_ForfeitError, CommandError) as error:
            self.notes.append(str(error))
            return None

    def parse_stones(self, text: str) -> set[int]:
        """The stones of a list of vertices, whatever else it names; ValueError where a word is no vertex."""
        points = {parse_vertex(word, self.game.width, self.game.height) for word in text.split()}
        return {point for point in points if point != PASS and self.game.stone_at(point) != EMPTY}

    def outcome(self, winner: int, result: str, reason: str, claims: dict[int, str] | None = None) -> Outcome:
        return Outcome(self.game, winner, result, reason, self.seconds, claims or {}, tuple(self.notes))


def _fault(error: EngineError) -> str:
    if isinstance(error, EngineDiedError):
        return "crash"
    return "garbage" if isinstance(error, EngineGarbageError) else "silence"


def _why_illegal(game: Game, colour: int, point: int) -> str:
    try:
        game.copy().play(colour, point)
    except IllegalMove as error:
        return str(error)
    return f"illegal move: {vertex(point, game.width, game.height)} repeats a position"


def _time_arguments(settings: TimeSettings) -> str:
    return f"{settings.main:g} {settings.period:g} {settings.count}"


def _same_score(claim: str, margin: float) -> bool:
    """Whether a `final_score` answer says the same as black's margin."""
    try:
        claimed = float(claim[2:]) if claim[:2] in ("B+", "W+") else float(claim)
    except ValueError:
        return False
    return abs((-claimed if claim.startswith("W") else claimed) - margin) < 1e-6
