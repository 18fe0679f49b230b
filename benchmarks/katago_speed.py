"""Visits/s compared with KataGo's own program: the same network and positions, in turns, trees and caches cleared.

The positions are those of the sample games. Each program runs with each of its settings, and the best results are
compared. KataGo's Eigen build runs on the CPU as we do. The same run also measures the bare network: the model's
forward pass at our batch size.
"""

import argparse
import shlex
import statistics
import time
from pathlib import Path

from kept_results import WORK

from gtp_engine.arena.gtp_client import GtpClient
from gtp_engine.base.system import configure_process
from gtp_engine.clients.cli.speed import bare_rate
from gtp_engine.go.coords import colour_letter, vertex
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf
from gtp_engine.nets.library import find_network
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search

SAMPLES = Path(__file__).resolve().parents[1] / "sgf" / "samples"
GAMES = {9: "9x9.sgf", 13: "13x13.sgf", 19: "ear-reddening-1846.sgf"}


def positions(size: int, count: int) -> list[Game]:
    """Returns positions, evenly spread over the first two thirds of the sample game of that size."""
    record = read_sgf(SAMPLES / GAMES[size])
    length = 2 * len(record.moves) // 3
    return [record.to_game(length * number // count) for number in range(count)]


def katago_command(program: str, network: Path, *, threads: int, search_threads: int, size: int) -> list[str]:
    """KataGo's command line, with a configuration written to `work/`: Chinese rules, 100 visits a move."""
    folder = WORK / "katago"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "logAllGTPCommunication": "false",
        "logSearchInfo": "false",
        "logToStderr": "false",
        "logFile": folder / "log",
        "rules": "chinese",
        "allowResignation": "false",
        "resignThreshold": -0.9,
        "numSearchThreads": search_threads,
        "numEigenThreadsPerModel": threads,
        "nnMaxBatchSize": max(8, search_threads),
        "maxVisits": 100,
        "ponderingEnabled": "false",
        "maxBoardXSizeForNNBuffer": size,
        "maxBoardYSizeForNNBuffer": size,
        "requireMaxBoardSize": "true",
    }
    config = folder / f"{size}x{size}-{threads}-{search_threads}.cfg"
    config.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    return [program, "gtp", "-model", str(network), "-config", str(config)]


class KataGo:
    """KataGo's program with a number of search threads."""

    def __init__(self, program: str, network: Path, threads: int, search_threads: int, size: int) -> None:
        self.label = f"KataGo, {search_threads} search threads"
        command = katago_command(program, network, threads=threads, search_threads=search_threads, size=size)
        self._client = GtpClient(shlex.join(command), timeout=600).connect()

    def rate(self, game: Game, visits: int) -> float:
        """Visits/s of a search from nothing."""
        send = self._client.send
        send(f"boardsize {game.width}")
        send("clear_board")
        send(f"komi {game.komi}")
        send(f"kata-set-param maxVisits {visits}")
        for move in game.moves:
            send(f"play {colour_letter(move.colour)} {vertex(move.point, game.width, game.height)}")
        send("clear_cache")
        start = time.perf_counter()
        send(f"kata-search {colour_letter(game.to_move)}")
        return visits / (time.perf_counter() - start)

    def close(self) -> None:
        self._client.close()


class Ours:
    """Our search with a batch size."""

    def __init__(self, evaluator: NetworkEvaluator, batch: int) -> None:
        self.label = f"gtp_engine, batches of {batch}"
        self._search = Search(evaluator, default_parameters("network").with_value("batch_size", batch), seed=1)

    def rate(self, game: Game, visits: int) -> float:
        """Visits/s of a search from nothing."""
        self._search.clear()
        self._search.evaluator.clear_cache()
        start = time.perf_counter()
        report = run_search(self._search, SearchRequest(game, Limits(visits=visits)))
        return report.visits / (time.perf_counter() - start)

    def close(self) -> None:
        self._search.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--katago", default="katago", help="KataGo's program (default: katago)")
    parser.add_argument("--network", required=True, help="a file of KataGo's, or a name")
    parser.add_argument("--size", type=int, default=19, choices=tuple(GAMES), help="default: 19")
    parser.add_argument("--visits", type=int, default=200, help="of a search (default: 200)")
    parser.add_argument("--positions", type=int, default=6, help="default: 6")
    parser.add_argument("--threads", type=int, default=2, help="default: 2")
    parser.add_argument("--batches", type=int, nargs="+", default=[4, 8, 16], help="ours (default: 4 8 16)")
    parser.add_argument("--search-threads", type=int, nargs="*", default=[2, 4, 8], help="KataGo's (default: 2 4 8)")
    options = parser.parse_args()
    path = find_network(options.network)
    configure_process()
    evaluator = NetworkEvaluator(path, threads=options.threads, device="cpu")
    board = f"{options.size}x{options.size}"
    print(f"{evaluator.name}, {board}, {options.visits} visits, {evaluator.precision}", flush=True)
    players: list[KataGo | Ours] = [
        *(KataGo(options.katago, path, options.threads, count, options.size) for count in options.search_threads),
        *(Ours(evaluator, batch) for batch in options.batches),
    ]
    games = positions(options.size, options.positions)
    rates: dict[str, list[float]] = {player.label: [] for player in players}
    for player in players:
        player.rate(games[0], 50)
    for game in games:
        for player in players:
            rates[player.label].append(player.rate(game, options.visits))
    best = {"KataGo": 0.0, "gtp_engine": 0.0}
    for label, found in rates.items():
        median = statistics.median(found)
        best[label.split(",")[0]] = max(best[label.split(",")[0]], median)
        print(f"{label}: {median:,.1f} visits/s ({min(found):,.1f} to {max(found):,.1f})")
    for batch in options.batches:
        bare = statistics.median(bare_rate(evaluator, game, batch, options.threads) for game in games)
        share = statistics.median(rates[f"gtp_engine, batches of {batch}"]) / bare
        print(f"bare network, batches of {batch}: {bare:,.1f} evaluations/s; the search has {100 * share:.0f} % of it")
    if options.search_threads:
        print(f"best to best: {best['gtp_engine'] / best['KataGo']:.2f} times KataGo", flush=True)
    for player in players:
        player.close()


if __name__ == "__main__":
    main()
