"""Drives the engine as KaTrain does, with KaTrain's own engine and game classes, without its window.

Usage: python session.py SGF ENGINE-COMMAND-LINE (python: one that has `katrain`, `kivy` and `pysgf`)
"""

import os
import sys
import time

os.environ |= {"KIVY_NO_ARGS": "1", "KIVY_NO_CONSOLELOG": "1", "KIVY_NO_FILELOG": "1"}

from katrain.core.engine import KataGoEngine
from katrain.core.game import KaTrainSGF
from pysgf import Move

CONFIG = {"backend": "custom", "max_visits": 60, "fast_visits": 20, "max_time": 30.0, "wide_root_noise": 0.04}
PATIENCE = 120.0


class Window:
    """What stands in for KaTrain's window: it keeps what is logged as an error."""

    def __init__(self):
        self.errors = []

    def log(self, message, level=0):
        if level <= -1:  # its OUTPUT_ERROR
            self.errors.append(message)

    def __call__(self, *call):
        self.errors.append(call)


def check(name, good, *details):
    if not good:
        print("not ok", name, *details, flush=True)
        os._exit(1)  # Kivy swallows the exit status of sys.exit
    print("ok", name, flush=True)


def wait_for(name, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            print(f"not ok {name}: nothing came", flush=True)
            os._exit(1)
        time.sleep(0.02)


def main():
    record, command = sys.argv[1:]
    window = Window()
    engine = KataGoEngine(window, CONFIG | {"altcommand": f"exec {command}", "_enable_ownership": True})
    root = KaTrainSGF.parse_file(record)
    nodes = [root]
    while nodes[-1].children:
        nodes.append(nodes[-1].children[0])
    for node in nodes:
        node.analyze(engine, priority=-100, analyze_fast=True, time_limit=False)
    wait_for("game", engine.is_idle)
    area = root.board_size[0] * root.board_size[1]
    check("every position is analysed", all(node.analysis_complete for node in nodes))
    check("visits", {node.analysis["root"]["visits"] for node in nodes} == {20})
    check("ownership", all(len(node.analysis["ownership"]) == area for node in nodes))
    check("policy", all(len(node.analysis["policy"]) == area + 1 for node in nodes))
    stones = {move.gtp(): move.player for node in nodes for move in node.moves}
    leads = [node.score for node in nodes]
    check("the lead is black's, with either player to move", min(leads[-2:]) > 5, leads)
    check("win rates too", min(node.winrate for node in nodes[-2:]) > 0.7)
    check("candidates", all(node.candidate_moves[0]["pv"] for node in nodes[:-1]))
    check("losses are reported", nodes[3].points_lost is not None)

    last = nodes[-1]
    last.analyze(engine, ponder=True, time_limit=False)
    wait_for("pondering", lambda: last.analysis["root"]["visits"] > 200)
    partial = engine.ponder_query is not None and not engine.is_idle()
    engine.stop_pondering()
    wait_for("the end of pondering", engine.is_idle)
    check("pondering continues until it is stopped", partial)

    before = set(nodes[2].analysis["moves"])
    nodes[2].analyze(engine, find_alternatives=True, time_limit=False)
    wait_for("alternatives", engine.is_idle)
    check("alternatives are other moves", set(nodes[2].analysis["moves"]) > before)
    refusals = []
    taken = Move.from_gtp(next(iter(stones)), player=last.next_player)
    engine.request_analysis(last, print, error_callback=refusals.append, next_move=taken, visits=5)
    wait_for("a refusal", lambda: refusals)
    check("an illegal move is refused", "Illegal move" in refusals[0]["error"], refusals)

    for node in nodes:
        node.analyze(engine, visits=100_000, time_limit=False)
    wait_for("queries", lambda: engine.queries_remaining() >= len(nodes))
    engine.on_new_game()
    nodes[0].analyze(engine, visits=30)
    wait_for("the new game", engine.is_idle)
    check("a new game ends what is under way", nodes[0].analysis["root"]["visits"] >= 20)
    check("nothing was logged as an error", not window.errors, window.errors)
    engine.shutdown(finish=True)
    check("it ends", engine.katago_process is None)


if __name__ == "__main__":
    main()
