"""The command `gtp_engine`: a static table of subcommands, each imported only when it is called.

A subcommand's module holds a click command named as the subcommand. It imports what it needs inside its function,
so that `--help` imports neither torch nor numba.
"""

import sys
from importlib import import_module
from typing import Any

import click

from gtp_engine import __version__
from gtp_engine.wording import reason

COMMANDS = {
    "gtp": "Speak GTP on standard input and output (for Sabaki, GoGui, Lizzie, servers).",
    "play": "Play a game in the terminal.",
    "analysis": "Speak KataGo's JSON analysis protocol (for KaTrain, review scripts).",
    "review": "Show the mistakes of a game record.",
    "selfplay": "Let the engine play itself and save the games.",
    "learn": "Let a network learn from game records.",
    "train": "Let a network learn from its own games.",
    "match": "Let two GTP engines or networks play each other and count.",
    "network": "Say what a network's file is.",
    "benchmark": "Measure visits and playouts per second.",
    "doctor": "Check the installation; print the lines that GUIs need.",
}

INTERRUPTED = 130  # what shells report of a program that Ctrl-C has ended


class LazyGroup(click.Group):
    """Click's group with commands that are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(import_module(f"gtp_engine.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Users get one line for what they did wrong; `python -X dev -m gtp_engine` shows where it was found."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise
        except (ValueError, OSError) as error:
            if sys.flags.dev_mode:
                raise
            raise click.ClickException(reason(error)) from error


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gtp_engine")
def main() -> None:
    """A Go engine that speaks GTP.

    \b
    Examples:
      gtp_engine play                              a game on 9x9, you are black
      gtp_engine play --board-size 19 --level 3    a full board, a weak opponent
      gtp_engine gtp --seconds 10                  for a GUI, 10 s a move
      gtp_engine review game.sgf                   where was the game lost?
      gtp_engine doctor                            what to enter in Sabaki, GoGui, Lizzie

    The exit status is 0 when all is done, 1 after an error, 2 for a wrong command line, and 130 after Ctrl-C, which
    ends every command and keeps what it has done.
    """
