"""A GTP engine that plays at random, but never into its own eyes. It passes if no move is left, or after a pass.

`network_strength.py` starts it; so can any program that lets engines play against each other.
"""

import argparse
import sys

import numpy as np

from gtp_engine.evaluate.rollouts.rollout import anywhere
from gtp_engine.game.coords import PASS, parse_colour, parse_vertex, vertex
from gtp_engine.game.game import Game
from gtp_engine.gtp.protocol import clean, parse, response

TRIES = 20  # of finding a move that repeats no position

COMMANDS = (
    "protocol_version", "name", "version", "list_commands", "known_command",
    "boardsize", "clear_board", "komi", "play", "genmove", "quit",
)  # fmt: skip


class RandomPlayer:
    """Answers GTP's commands."""

    def __init__(self, seed: int) -> None:
        self.game = Game(19)
        self.state = np.random.default_rng(seed).integers(1, 2**63, 1, np.uint64)

    def answer(self, name: str, arguments: list[str]) -> str:
        """Returns the response's text; raises ValueError if the command fails."""
        game = self.game
        match name, *arguments:
            case ["protocol_version"]:
                return "2"
            case ["name"]:
                return "random"
            case ["version"]:
                return "1"
            case ["list_commands"]:
                return "\n".join(COMMANDS)
            case ["known_command", command]:
                return "true" if command in COMMANDS else "false"
            case ["boardsize", size]:
                self.game = Game(int(size), komi=game.komi)
            case ["clear_board"]:
                game.clear()
            case ["komi", komi]:
                game.set_komi(float(komi))
            case ["play", colour, move]:
                game.play(parse_colour(colour), parse_vertex(move, game.width, game.height))
            case ["genmove", colour]:
                point = self.move(parse_colour(colour))
                game.play(parse_colour(colour), point)
                return vertex(point, game.width, game.height)
            case ["quit"]:
                pass
            case _:
                raise ValueError("unknown command" if name not in COMMANDS else "syntax error")
        return ""

    def move(self, colour: int) -> int:
        if self.game.passes:  # else it would throw stones into lost ground for ever
            return PASS
        self.game.to_move = colour
        for _ in range(TRIES):
            point = int(anywhere(self.game.board[0], self.state))
            if self.game.is_legal(point):
                return point
        return PASS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    player = RandomPlayer(parser.parse_args().seed)
    for line in sys.stdin.buffer:
        command = parse(clean(line.rstrip(b"\r\n")))
        if command is None:
            continue
        try:
            text = response(command.id, player.answer(command.name, command.arguments))
        except ValueError as error:
            text = response(command.id, str(error), failed=True)
        sys.stdout.write(text)
        sys.stdout.flush()
        if command.name == "quit":
            return


if __name__ == "__main__":
    main()
