"""One game between two GTP engines, refereed by our own rules and our own clock.

An engine loses the game by its own fault: an illegal move, a crash, silence, a malformed response, the refusal of a
legal command, or exceeding its time. After two passes the referee counts. A stone is dead if its owner's engine lists
it as dead. A stone that only the opponent lists as dead is alive unless it is captured: under area rules the engines
continue once to capture it, if both support that. Under rules like Tromp and Taylor's all stones are alive, so that a
game that does not end can be counted, too.
"""

import time
from collections.abc import Sequence

from ..base.errors import UserError
from ..engine.clock import NO_LIMIT, Clock, gtp_settings
from ..go.coords import BLACK, EMPTY, PASS, WHITE, colour_letter, colour_name, opponent, parse_vertex
from ..go.game import Game, IllegalMove, Move
from ..go.rules import rules_name
from .gtp_client import CommandError, EngineDiedError, EngineError, EngineGarbageError, GtpClient, shown
from .match_settings import MOVES_PER_POINT, EngineMatchSettings, players_by_colour
from .results import EndReason, GameResult

# Seconds by which a move may exceed the time: pipes and a busy machine cause them, not the engine.
LEEWAY = 0.1
# KGS's command for continuing after a disagreement about dead stones: genmove that captures before it passes.
PLAY_ON = "kgs-genmove_cleanup"
# Seconds to wait for an engine that has exceeded its time before it is ended: most need only a little longer.
OVERTIME_PATIENCE = 5.0
_FAULTS = {EngineDiedError: EndReason.CRASH, EngineGarbageError: EndReason.GARBAGE}


class _ForfeitError(Exception):
    """The game is lost by a fault of `colour`."""

    def __init__(self, colour: int, reason: EndReason, note: str) -> None:
        super().__init__(note)
        self.colour = colour
        self.reason = reason


def play_game(
    number: int, engines: dict[str, GtpClient], opening: Sequence[Move], settings: EngineMatchSettings
) -> tuple[GameResult, Game]:
    """Plays one game of a match between the engines "A" and "B", and blocks until it is over.

    Its number, from 0, decides who has which colour. The result says how it ended, also if by an engine's fault. Raises
    EngineError if an engine refuses the board size, the komi or the rules, so that a match makes no sense.
    """
    referee = _RefereedGame(number, engines, settings)
    try:
        referee.set_up(opening)
        result = referee.play()
    except _ForfeitError as fault:
        winner = opponent(fault.colour)
        letter = "T" if fault.reason is EndReason.TIME else "F"
        referee.notes.append(str(fault))
        result = referee.result(winner, f"{colour_letter(winner)}+{letter}", fault.reason)
    return result, referee.game


class _RefereedGame:
    """A game in progress."""

    def __init__(self, number: int, engines: dict[str, GtpClient], settings: EngineMatchSettings) -> None:
        self.number = number
        self.names = players_by_colour(number, settings.handicap)
        self.players = {colour: engines[name] for colour, name in self.names.items()}
        self.settings = settings
        self.game = settings.empty_game()
        self.time = gtp_settings(*settings.time)
        self.clock = Clock(self.time)
        self.seconds = {BLACK: 0.0, WHITE: 0.0}
        self.notes: list[str] = []

    def set_up(self, opening: Sequence[Move]) -> None:
        """Prepares both engines and plays the opening."""
        width, height, game_rules = self.game.width, self.game.height, self.game.rules
        # GNU Go reads `boardsize 5 7` as 5x5; an engine without rectangular boards refuses the other command.
        size = f"boardsize {width}" if width == height else f"rectangular_boardsize {width} {height}"
        rules = rules_name(game_rules) or game_rules.to_json()
        for colour, player in self.players.items():
            commands = [size, "clear_board", f"komi {self.game.komi:g}"]
            if player.knows("kata-set-rules"):
                commands.append(f"kata-set-rules {rules}")
            if player.knows("time_settings") and self.time != NO_LIMIT:
                commands.append("time_settings {} {} {}".format(*self.settings.time))
            if self.settings.handicap:
                commands.append(f"fixed_handicap {self.settings.handicap}")
            for command in commands:
                self.send(colour, command)
        for move in opening:
            self.game.play(*move)
            for colour in self.players:
                self.send_move(colour, move)

    def play(self) -> GameResult:
        """Plays the game to its end and counts it."""
        result = self.play_to_passes("genmove")
        if result is not None:
            return result
        dead = self.dead_stones()
        if set().union(*dead.values()) - self.given_up(dead):  # a side does not give up what the other lists
            self.notes.append("the engines disagreed about dead stones" + " and played on" * self.can_play_on)
            if self.can_play_on:
                result = self.play_to_passes(PLAY_ON)
                if result is not None:
                    return result
                dead |= self.dead_stones()
        return self.counted(self.given_up(dead))

    def play_to_passes(self, command: str) -> GameResult | None:
        """Plays until two consecutive passes from now on; returns the result if the game ends otherwise."""
        begun = len(self.game.moves)
        while not self.game.is_over or len(self.game.moves) < begun + 2:
            if len(self.game.moves) >= MOVES_PER_POINT * self.game.area:
                if command == PLAY_ON:
                    return None  # it was over before: the position is counted as it stands
                if self.game.rules.stones_stand:
                    return self.counted(set())
                return self.result(EMPTY, "Void", EndReason.MOVE_CAP)
            colour = self.game.to_move
            point = self.next_move(colour, command)
            if point is None:
                winner = opponent(colour)
                return self.result(winner, f"{colour_letter(winner)}+R", EndReason.RESIGNATION)
            self.game.play(colour, point)
            self.send_move(opponent(colour), Move(colour, point))
        return None

    def send(self, colour: int, command: str, timeout: float | None = None) -> str:
        """Returns an engine's response; an engine that fails loses. Raises CommandError for an error response."""
        try:
            return self.players[colour].send(command, self.settings.patience if timeout is None else timeout)
        except CommandError:
            raise
        except EngineError as error:
            raise _ForfeitError(colour, _FAULTS.get(type(error), EndReason.SILENCE), str(error)) from error

    def demand(self, colour: int, command: str, timeout: float | None = None, *, note: str = "") -> str:
        """Returns an engine's response; an engine that fails, or refuses a command that is in order, loses."""
        try:
            return self.send(colour, command, timeout)
        except CommandError as error:
            raise _ForfeitError(colour, EndReason.REFUSAL, f"{error}{note}") from error

    def send_move(self, colour: int, move: Move) -> None:
        """Plays a move on an engine's board."""
        name = self.game.vertex(move.point)
        self.demand(colour, f"play {colour_letter(move.colour).lower()} {name}", note=f" ({name} is legal)")

    def next_move(self, colour: int, command: str) -> int | None:
        """Returns the point that an engine chooses, which is legal; None if it resigns."""
        answer = self.generate_move(colour, command)
        if answer.lower() == "resign":
            return None
        who = f"{self.players[colour].name} ({colour_name(colour)})"
        try:
            point = parse_vertex(answer, self.game.width, self.game.height)
        except ValueError:
            raise _ForfeitError(colour, EndReason.GARBAGE, f"{who} answered {command} with {answer[:60]!r}") from None
        if not self.game.is_legal(point):
            why = _why_illegal(self.game, colour, point)
            raise _ForfeitError(colour, EndReason.ILLEGAL_MOVE, f"{who} at move {len(self.game.moves) + 1}: {why}")
        return point

    def generate_move(self, colour: int, command: str) -> str:
        """Returns the response to genmove, or a command like it, and charges the clock."""
        player, allowed = self.players[colour], None
        if (left := self.clock.remaining(colour)) is not None:
            seconds, stones = left
            # The seconds until the flag falls.
            allowed = seconds + self.time.period if stones == 0 and self.time.has_overtime else seconds
            if player.knows("time_left"):
                self.demand(colour, f"time_left {colour_letter(colour).lower()} {int(seconds)} {stones}")
        timeout = None if allowed is None else allowed + LEEWAY + OVERTIME_PATIENCE
        start = time.monotonic()
        try:
            answer = self.demand(colour, f"{command} {colour_letter(colour).lower()}", timeout)
        except _ForfeitError as fault:
            # A stray line on stdout makes silence look like garbage.
            is_late = allowed is not None and time.monotonic() - start > allowed + LEEWAY
            if is_late and fault.reason in (EndReason.SILENCE, EndReason.GARBAGE):
                fault.reason = EndReason.TIME
            raise
        finally:
            spent = time.monotonic() - start
            self.seconds[colour] += spent
        if allowed is not None and spent > allowed + LEEWAY:
            note = f"{player.name} ({colour_name(colour)}) thought {spent:.2f} s and had {allowed:.2f} s left"
            raise _ForfeitError(colour, EndReason.TIME, note)
        self.clock.charge(colour, spent)
        return answer

    @property
    def can_play_on(self) -> bool:
        """Whether dead stones can be captured after two passes: it costs no points and both engines support it."""
        by_area = self.game.rules.scoring == "AREA"
        return by_area and all(player.knows(PLAY_ON) for player in self.players.values())

    def dead_stones(self) -> dict[int, set[int]]:
        """Returns the points of all dead stones according to each colour's engine; engines may be missing."""
        seen: dict[int, set[int]] = {}
        if self.game.rules.stones_stand:
            return seen
        for colour in self.players:
            answer = self.opinion(colour, "final_status_list dead")
            if answer is not None:
                try:
                    words = dict.fromkeys(answer.split())  # an engine may repeat one a million times
                    points = {parse_vertex(word, self.game.width, self.game.height) for word in words}
                    seen[colour] = {p for p in points if p != PASS and self.game.stone_at(p) != EMPTY}
                except UserError as error:
                    self.notes.append(f"{self.players[colour].name} could not name the dead stones: {error}")
        for colour in self.players.keys() - seen.keys():
            theirs = [point for point in seen.get(opponent(colour), ()) if self.game.stone_at(point) == colour]
            if theirs:
                names = self.players[opponent(colour)].name, self.players[colour].name
                note = "{} alone decided which stones of {} are dead".format(*names)
                if note not in self.notes:
                    self.notes.append(note)
        return seen

    def given_up(self, dead: dict[int, set[int]]) -> set[int]:
        """Returns the stones that their owner lists as dead, or the opponent if the owner's engine did not answer."""
        return {
            point
            for colour in self.players
            for point in dead.get(colour, dead.get(opponent(colour), set()))
            if self.game.stone_at(point) == colour
        }

    def counted(self, dead: set[int]) -> GameResult:
        """Returns the result by counting without the dead stones."""
        score = self.game.score(dead)
        claims = {}
        for colour in self.players if self.game.is_over else ():  # before the end an engine says what it expects
            claim = self.opinion(colour, "final_score")
            if claim is None:
                continue
            claims[colour] = shown(claim)
            if not _same_score(claim, score.points):
                self.notes.append(f"{self.players[colour].name} scored {claims[colour]}, the referee {score}")
        return self.result(score.winner, str(score), EndReason.SCORE, claims)

    def opinion(self, colour: int, command: str) -> str | None:
        """Returns an engine's response about the finished game; None, and perhaps a note, if there is none."""
        player = self.players[colour]
        if not player.usable or not player.knows(command.split()[0]):
            return None
        try:
            return self.send(colour, command)
        except (_ForfeitError, CommandError) as error:
            self.notes.append(str(error))
            return None

    def result(self, winner: int, text: str, reason: EndReason, claims: dict[int, str] | None = None) -> GameResult:
        """Returns the result of the game: the winner's colour, EMPTY for none, the result as in SGF, and the claims."""
        engines = {self.names[colour]: player for colour, player in self.players.items()}
        return GameResult(
            number=self.number,
            black=self.names[BLACK],
            winner=self.names.get(winner),
            result=text,
            reason=reason.value,
            moves=len(self.game.moves),
            names={name: f"{engines[name].name} {engines[name].version}".strip() for name in sorted(engines)},
            seconds={self.names[colour]: round(seconds, 3) for colour, seconds in self.seconds.items()},
            claims={self.names[colour]: claim for colour, claim in (claims or {}).items()},
            notes=tuple(self.notes),
        )


def _why_illegal(game: Game, colour: int, point: int) -> str:
    try:
        game.copy().play(colour, point)
    except IllegalMove as error:
        return str(error)
    return f"illegal move: {game.vertex(point)} repeats a position"


def _same_score(claim: str, margin: float) -> bool:
    """Whether a response to `final_score` agrees with Black's margin."""
    try:
        claimed = float(claim[2:]) if claim[:2] in ("B+", "W+") else float(claim)
    except ValueError:
        return False
    return abs((-claimed if claim.startswith("W") else claimed) - margin) < 1e-6
