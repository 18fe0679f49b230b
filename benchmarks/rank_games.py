"""Plays games between strengths in this process, by the code that decides the engine's moves, and keeps them."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from kept_results import WORK, fingerprint, whole_lines

from gtp_engine.arena.gtp_client import CommandError, GtpClient
from gtp_engine.arena.openings import random_openings
from gtp_engine.base.errors import UserError
from gtp_engine.engine.decision import PlayStyle, choose_move, is_hopeless
from gtp_engine.engine.ranks import Strength
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, PASS, WHITE, colour_letter, opponent
from gtp_engine.go.game import Game, IllegalMove
from gtp_engine.go.rules import default_komi
from gtp_engine.nets.library import find_network, network_name
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import SearchRequest

# What makes a player of a rank out of a network: games of another state of these files are not mixed in. The search and
# the evaluation are left out, since most changes there are about speed: after one that is not, begin a new `work/`.
PLAYING = ("engine/decision.py", "engine/rank_play.py", "engine/ranks.py", "engine/status.py")
GNUGO, PACHI = -1.0, -2.0  # in place of a strength
PROGRAMS = {GNUGO: "GNU Go", PACHI: "Pachi"}
MOVES_PER_POINT = 3
OPENING_MOVES = 2


def opened_games(size: int, seed: int) -> Iterator[Game]:
    """Yields games of a board size, opened by two random moves, or more if the board has no other openings left."""
    for opening in random_openings(size, size, OPENING_MOVES, seed):
        game = Game(size, komi=default_komi(size, size))
        for move in opening:
            game.play(game.to_move, move.point)
        yield game


@dataclass(frozen=True)
class PlayedGame:
    """A game between two players.

    Attributes:
        black: Black's strength, or one of PROGRAMS.
        white: White's.
        points: Black's points, 0 to 1: half of a point for a draw or a game that was broken off.
        moves: The vertices of all moves, the opening's too.
        handicap: The number of handicap stones.
        seconds: How long it took.
    """

    black: float
    white: float
    points: float
    moves: str
    handicap: int
    seconds: float


class RankGames:
    """Games of a network's ranks on one board, in a file of JSON lines in `work/`. One program at a time adds to it.

    Args:
        network: The network's file or name.
        size: The board's size.
        seed: Decides everything random of our own players.
        commands: The command line of each of PROGRAMS that is to play.
        kind: What the games are for, in the file's name.

    Attributes:
        name: The network's name.
        size: The board's size.
        games: The games so far.
        file: Where they are kept.
    """

    def __init__(
        self, network: str, size: int, seed: int, commands: Mapping[float, str], kind: str = "rank_ladder"
    ) -> None:
        path = find_network(network)
        self.name, self.size = network_name(path), size
        self._network = str(path)
        WORK.mkdir(exist_ok=True)
        weights = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        self.file = WORK / f"{kind}-{fingerprint(PLAYING)} {self.name} {weights} {size}x{size}.jsonl"
        self.games = [PlayedGame(**json.loads(line)) for line in whole_lines(self.file)]
        # A resumed series has other games than its beginning.
        own_seed = int(np.random.SeedSequence((seed, len(self.games))).generate_state(1)[0])
        self._worker = SearchWorker(EngineSettings(self._network, threads=1, seed=own_seed))
        self._parameters = default_parameters(self._network)
        self._commands = commands
        self._clients: dict[float, GtpClient] = {}

    def play(self, game: Game, black: float, white: float, handicap: int = 0) -> None:
        """Plays a game to its end, and keeps it. A program loses by an illegal move, or by refusing a legal one.

        Args:
            game: The position at the start; the moves are added to it.
            black: Black's strength, or one of PROGRAMS; not both players may be programs.
            white: White's.
            handicap: The number of handicap stones in the position.
        """
        started = time.monotonic()
        points = {BLACK: 1.0, WHITE: 0.0}.get(self._play_out(game, {BLACK: black, WHITE: white}), 0.5)
        moves = " ".join(game.vertex(move.point) for move in game.moves)
        self.games.append(PlayedGame(black, white, points, moves, handicap, round(time.monotonic() - started, 2)))
        with self.file.open("a") as lines:
            lines.write(json.dumps(vars(self.games[-1])) + "\n")

    def _play_out(self, game: Game, players: dict[int, float]) -> int:
        """Plays a game to its end, and returns who has won; 0 for a draw, or a game that is broken off."""
        other = next((colour for colour, player in players.items() if player in PROGRAMS), None)
        program = None if other is None else self._program(players[other], game)
        hopeless = dict.fromkeys(players, 0)
        while not game.is_over:
            colour = game.to_move
            if len(game.moves) >= MOVES_PER_POINT * game.area:
                return 0
            try:
                its_turn = program is not None and colour == other
                point = _move_of(program, game) if its_turn else self._move(game, players[colour], hopeless)
                if point is None:
                    return opponent(colour)
                game.play(colour, point)
                if program is not None and not its_turn:
                    program.send(f"play {colour_letter(colour)} {game.vertex(point)}")
            except (IllegalMove, CommandError) as error:
                if other is None:
                    raise
                print(f"{PROGRAMS[players[other]]} loses at move {len(game.moves)}: {error}", flush=True)
                return opponent(other)
        return game.score(self._worker.dead_stones(SearchRequest(game, parameters=self._parameters))).winner

    def _move(self, game: Game, strength: float, hopeless: dict[int, int]) -> int | None:
        """Returns a move at a strength; None to resign."""
        request = SearchRequest(game, parameters=self._parameters)
        point, report = choose_move(self._worker, request, PlayStyle(Strength(strength)))
        lost = is_hopeless(game, report, EngineSettings.resign_threshold, Strength(strength))
        hopeless[game.to_move] = hopeless[game.to_move] + 1 if lost else 0
        return None if hopeless[game.to_move] >= EngineSettings.resign_moves else point

    def _program(self, player: float, game: Game) -> GtpClient:
        """Returns a program, with the position on its board."""
        if player not in self._clients:
            self._clients[player] = GtpClient(self._commands[player], timeout=300)
            if (name := self._clients[player].connect().name) != PROGRAMS[player]:
                raise UserError(f"{self._commands[player]} is {name}, not {PROGRAMS[player]}")
        client = self._clients[player]
        for line in (f"boardsize {game.width}", "clear_board", f"komi {game.komi}"):
            client.send(line)
        for move in game.moves:
            client.send(f"play {colour_letter(move.colour)} {game.vertex(move.point)}")
        return client

    def close(self) -> None:
        self._worker.close()
        for client in self._clients.values():
            client.close()


def _move_of(program: GtpClient | None, game: Game) -> int | None:
    """Returns a program's move; None to resign."""
    assert program is not None
    vertex = program.send(f"genmove {colour_letter(game.to_move)}")
    return None if vertex.lower() == "resign" else PASS if vertex.lower() == "pass" else game.point(vertex)
