"""Plays games between strengths in this process, by the code that decides the engine's moves, and keeps them."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from fingerprint import WORK, fingerprint
from result_lines import whole_lines
from versus_gnugo import gnugo, program

from gtp_engine.base.errors import UserError
from gtp_engine.base.files import folder_lock
from gtp_engine.game.coords import BLACK, PASS, WHITE, colour_letter, opponent
from gtp_engine.game.game import Game
from gtp_engine.game.rules import default_komi
from gtp_engine.games.gtp_client import GtpClient
from gtp_engine.games.openings import random_openings
from gtp_engine.network.library import default_network, find_network, network_name
from gtp_engine.play.decision import PlayStyle, choose_move
from gtp_engine.play.endgame import is_hopeless
from gtp_engine.play.settings import EngineSettings
from gtp_engine.play.strength import Strength
from gtp_engine.play.worker import SearchWorker
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import SearchRequest

# What makes a player of a rank out of a network: games of another state of these files are not mixed in. The search and
# the evaluation are left out, since most changes there are about speed: after one that is not, begin a new `work/`.
PLAYING = tuple(f"play/{name}.py" for name in ("decision", "endgame", "rank_play", "sense", "strength"))
GNUGO, PACHI = -1.0, -2.0  # in place of a strength
_PACHI = "-t =5000 --nodcnn threads=1"  # 5,000 playouts without a network: 3k on KGS by its README
PROGRAMS = {
    GNUGO: ("GNU Go", lambda: gnugo(10)),
    PACHI: ("Pachi", lambda: f"{program('pachi', 'Pachi')} {_PACHI}"),
}
MOVES_PER_POINT = 3
OPENING_MOVES = 2

Kept = TypeVar("Kept")  # the dataclass of a game


def network_or_default(network: str | None, size: int) -> str:
    """Returns the network that an option names, or without one the name of the default network for a board size."""
    if network is not None:
        return network
    path = default_network(size, size)
    if path is None:
        raise UserError(f"no network comes with the program for {size}x{size}: choose one with --network")
    return network_name(path)


def opened_games(size: int, seed: int) -> Iterator[Game]:
    """Yields games of a board size, opened by two random moves, or more if the board has no other openings left."""
    for opening in random_openings(size, size, OPENING_MOVES, seed):
        game = Game(size, komi=default_komi(size, size))
        for move in opening:
            game.play(game.to_move, move.point)
        yield game


class GameFile(Generic[Kept]):
    """Games in a file of JSON lines, one each: those of earlier runs, and what is added by one program at a time.

    Args:
        path: The file, which need not exist.
        kind: The dataclass of a game, of numbers and texts.

    Attributes:
        games: The games so far.
    """

    def __init__(self, path: Path, kind: type[Kept]) -> None:
        self._path = path
        self._lock: ExitStack | None = None
        self._kind = kind
        self.games: list[Kept] = []
        self._read()

    def begin(self) -> None:
        """Reserves the file before games are added; UserError if another program adds some, which would be the same."""
        if self._lock is not None:
            return
        lock = ExitStack()  # the system releases it when the program ends
        try:
            lock.enter_context(folder_lock(self._path.parent, f"{self._path.name}.lock"))
        except UserError:
            raise UserError(f"{self._path}: another program is playing these games") from None
        self._lock = lock
        self._read()

    def _read(self) -> None:
        self.games[:] = [self._kind(**json.loads(line)) for line in whole_lines(self._path)]

    def add(self, game: Kept) -> None:
        """Adds a game at the end of the file, after `begin`."""
        self.games.append(game)
        with self._path.open("a") as lines:
            lines.write(json.dumps(vars(game)) + "\n")


class RankGames:
    """Plays games of a network.

    Attributes:
        name: The network's name.
    """

    def __init__(self, network: str, seed: int) -> None:
        self._path = find_network(network)
        self.name = network_name(self._path)
        self._parameters = default_parameters(str(self._path))
        self._seed = seed
        self._worker = SearchWorker(str(self._path), 1, seed)
        self._programs: dict[float, GtpClient] = {}

    def file(self, benchmark: str, about: str) -> Path:
        """Returns the file in `work/` for the games of a benchmark with this network and this state of the code."""
        WORK.mkdir(exist_ok=True)
        weights = hashlib.sha256(self._path.read_bytes()).hexdigest()[:8]
        return WORK / f"{benchmark}-{fingerprint(PLAYING)} {self.name} {weights} {about}.jsonl"

    def reseed(self, number: int) -> None:
        """Prepares the game of a number, so that a resumed series has other games than its beginning."""
        self._worker.reseed(int(np.random.SeedSequence((self._seed, number)).generate_state(1)[0]))

    def play(self, game: Game, black: float, white: float) -> tuple[float, tuple[float, float]]:
        """Plays a game to its end.

        Args:
            game: The position at the start; the moves are added to it.
            black: Black's strength, or one of `PROGRAMS`; not both players may be programs.
            white: White's.

        Returns:
            Black's points, 0 to 1, half of a point for a draw or a game that was broken off; and the seconds a move
            of Black and White.
        """
        players, hopeless = {BLACK: black, WHITE: white}, {BLACK: 0, WHITE: 0}
        seconds, moves = {BLACK: 0.0, WHITE: 0.0}, {BLACK: 0, WHITE: 0}
        program = self._program(min(black, white), game)
        resigned = None
        while not game.is_over and resigned is None and len(game.moves) < MOVES_PER_POINT * game.area:
            colour = game.to_move
            started = time.perf_counter()
            is_program = players[colour] in PROGRAMS
            point = _move_of(program, game) if is_program else self._move(game, players[colour], hopeless)
            seconds[colour] += time.perf_counter() - started
            moves[colour] += 1
            if point is None:
                resigned = colour
                continue
            game.play(colour, point)
            if program is not None and not is_program:
                program.send(f"play {colour_letter(colour)} {game.vertex(point)}")
        winner = opponent(resigned) if resigned else self._winner(game)
        each = tuple(round(seconds[colour] / max(1, moves[colour]), 4) for colour in (BLACK, WHITE))
        return {BLACK: 1.0, WHITE: 0.0}.get(winner, 0.5), (each[0], each[1])

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
        return self._worker.final_score(SearchRequest(game, parameters=self._parameters)).winner

    def _program(self, strength: float, game: Game) -> GtpClient | None:
        """Returns the program that plays in place of a strength, with the position on its board; None if none does."""
        if strength not in PROGRAMS:
            return None
        if strength not in self._programs:
            self._programs[strength] = GtpClient(PROGRAMS[strength][1](), timeout=300)
            self._programs[strength].connect()
        client = self._programs[strength]
        for line in (f"boardsize {game.width}", "clear_board", f"komi {game.komi}"):
            client.send(line)
        for move in game.moves:
            client.send(f"play {colour_letter(move.colour)} {game.vertex(move.point)}")
        return client

    def close(self) -> None:
        self._worker.close()
        for client in self._programs.values():
            client.close()


def _move_of(program: GtpClient | None, game: Game) -> int | None:
    """Returns a program's move; None to resign."""
    assert program is not None
    vertex = program.send(f"genmove {colour_letter(game.to_move)}")
    return None if vertex.lower() == "resign" else PASS if vertex.lower() == "pass" else game.point(vertex)
