"""Plays games between strengths in this process, by the code that decides the engine's moves, and keeps them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from kept_results import WORK, fingerprint, whole_lines
from network_strength import gnugo

from gtp_engine.arena.gtp_client import GtpClient
from gtp_engine.arena.openings import random_openings
from gtp_engine.engine.decision import PlayStyle, choose_move, is_hopeless
from gtp_engine.engine.ranks import RANKS_FILE, Rank, Strength, read_ranks
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, PASS, WHITE, colour_letter, opponent
from gtp_engine.go.game import Game
from gtp_engine.go.rules import default_komi
from gtp_engine.nets.library import bundled_folder, find_network, network_name
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import SearchRequest

# What makes a player of a rank out of a network: games of another state of these files are not mixed in. The search and
# the evaluation are left out, since most changes there are about speed: after one that is not, begin a new `work/`.
PLAYING = ("engine/decision.py", "engine/rank_play.py", "engine/ranks.py", "engine/status.py")
GNUGO = -1.0  # in place of a strength
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
    """A game between two strengths.

    Attributes:
        black: Black's strength, or GNUGO.
        white: White's.
        points: Black's points, 0 to 1: half of a point for a draw or a game that was broken off.
        moves: The vertices of all moves, the opening's too.
        handicap: The number of handicap stones.
    """

    black: float
    white: float
    points: float
    moves: str
    handicap: int = 0


class RankGames:
    """Games of a network's ranks on one board, in a file of JSON lines in `work/`. One program at a time adds to it.

    Attributes:
        name: The network's name.
        size: The board's size.
        games: The games so far.
        strengths: The strength of each rank in today's ranks.toml.
    """

    def __init__(self, network: str, size: int, seed: int, kind: str) -> None:
        path = find_network(network)
        self.name, self.size = network_name(path), size
        self._network = str(path)
        WORK.mkdir(exist_ok=True)
        weights = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        self._file = WORK / f"{kind}-{fingerprint(PLAYING)} {self.name} {weights} {size}x{size}.jsonl"
        self.games = [PlayedGame(**json.loads(line)) for line in whole_lines(self._file)]
        self.strengths: dict[Rank, float] = read_ranks(bundled_folder() / RANKS_FILE).get(self.name, {}).get(size, {})
        # A resumed series has other games than its beginning.
        own_seed = int(np.random.SeedSequence((seed, len(self.games))).generate_state(1)[0])
        self._worker = SearchWorker(self._network, 1, own_seed)
        self._parameters = default_parameters(self._network)
        self._gnugo: GtpClient | None = None

    def play(self, game: Game, black: float, white: float, handicap: int = 0) -> None:
        """Plays a game to its end, and keeps it.

        Args:
            game: The position at the start; the moves are added to it.
            black: Black's strength, or GNUGO; not both players may be programs.
            white: White's.
            handicap: The number of handicap stones in the position.
        """
        players, hopeless = {BLACK: black, WHITE: white}, {BLACK: 0, WHITE: 0}
        program = self._program(game) if GNUGO in (black, white) else None
        resigned = None
        while not game.is_over and resigned is None and len(game.moves) < MOVES_PER_POINT * game.area:
            colour = game.to_move
            point = _move_of(program, game) if players[colour] == GNUGO else self._move(game, players[colour], hopeless)
            if point is None:
                resigned = colour
                continue
            game.play(colour, point)
            if program is not None and players[colour] != GNUGO:
                program.send(f"play {colour_letter(colour)} {game.vertex(point)}")
        winner = opponent(resigned) if resigned else self._winner(game)
        vertices = " ".join(game.vertex(move.point) for move in game.moves)
        self.games.append(PlayedGame(black, white, {BLACK: 1.0, WHITE: 0.0}.get(winner, 0.5), vertices, handicap))
        with self._file.open("a") as lines:
            lines.write(json.dumps(vars(self.games[-1])) + "\n")

    def _move(self, game: Game, strength: float, hopeless: dict[int, int]) -> int | None:
        """Returns a move at a strength; None to resign."""
        request = SearchRequest(game, parameters=self._parameters)
        point, report = choose_move(self._worker, request, PlayStyle(Strength(strength)))
        lost = is_hopeless(game, report, EngineSettings.resign_threshold, Strength(strength))
        hopeless[game.to_move] = hopeless[game.to_move] + 1 if lost else 0
        return None if hopeless[game.to_move] >= EngineSettings.resign_moves else point

    def _winner(self, game: Game) -> int:
        """Returns who has won by the count; 0 for a draw, or a game that was broken off."""
        if not game.is_over:
            return 0
        return game.score(self._worker.dead_stones(SearchRequest(game, parameters=self._parameters))).winner

    def _program(self, game: Game) -> GtpClient:
        """Returns GNU Go, with the position on its board."""
        if self._gnugo is None:
            self._gnugo = GtpClient(gnugo(10), timeout=300)
            self._gnugo.connect()
        for line in (f"boardsize {game.width}", "clear_board", f"komi {game.komi}"):
            self._gnugo.send(line)
        for move in game.moves:
            self._gnugo.send(f"play {colour_letter(move.colour)} {game.vertex(move.point)}")
        return self._gnugo

    def close(self) -> None:
        self._worker.close()
        if self._gnugo is not None:
            self._gnugo.close()


def _move_of(program: GtpClient | None, game: Game) -> int | None:
    """Returns a program's move; None to resign."""
    assert program is not None
    vertex = program.send(f"genmove {colour_letter(game.to_move)}")
    return None if vertex.lower() == "resign" else PASS if vertex.lower() == "pass" else game.point(vertex)
