"""The command `gtp_engine`: a static table of subcommands, each imported only when it is called.

A subcommand's module holds a click command named as the subcommand. It imports what it needs inside its function,
so that `--help` imports neither torch nor numba.
"""

import os
import shutil
import sys
import textwrap
import traceback
from contextlib import suppress
from importlib import import_module
from itertools import dropwhile
from typing import Any

import click
from click.shell_completion import CompletionItem

from gtp_engine.base import VERSION, interrupts
from gtp_engine.base.errors import EXPECTED, answer_text, error_place
from gtp_engine.base.fields import did_you_mean
from gtp_engine.base.messages import printable
from gtp_engine.base.system import EXIT_INTERRUPTED, configure_process, open_standard_streams

COMMANDS = {
    "gtp": "Speak GTP on standard input and output (for Sabaki, GoGui, Lizzie, servers).",
    "play": "Play against the engine in the terminal.",
    "web": "Play against the engine in the browser.",
    "analysis": "Speak KataGo's JSON analysis protocol (for KaTrain, review scripts).",
    "games": "List your games, and what cost you most points.",
    "review": "Find the mistakes in a game record.",
    "solve": "Find out whether groups live, by exact reading.",
    "selfplay": "Play the engine against itself and save the games.",
    "learn": "Train a network on game records.",
    "train": "Train a network on its own games.",
    "experiment": "Compare two settings of training over several seeds.",
    "match": "Play two engines or networks against each other and report the score.",
    "network": "Describe network files, and get KataGo's published ones.",
    "benchmark": "Measure visits per second.",
    "doctor": "Check the installation and print the lines to enter in GUIs.",
    "config": "Show or create the file with your own defaults for all commands.",
}


HELP = ("help", "Show the options of a command, or this list.")
_AFTER_THE_COMMAND = ("-v", "--verbose", "-q", "--quiet")


class LazyGroup(click.Group):
    """A click group whose commands are imported on demand."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Runs the program; one line says that the help cannot be written, to a full disk for example."""
        open_standard_streams()
        try:
            return super().main(*args, **settings)
        except OSError as error:
            click.echo(f"Error: {answer_text(error)}", err=True)
            with suppress(OSError):  # what is left in the buffer would fail again at the end of the process
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.exit(1)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes `help`, `help COMMAND` and no words at all for what `--help` shows."""
        if not args:
            args = ["--help"]
        elif args[0] == "help":
            args = [*dropwhile(lambda word: word == "help", args), "--help"]
        elif args[0] in _AFTER_THE_COMMAND and len(args) > 1:
            raise click.UsageError(f"{args[0]} goes after the command: gtp_engine {args[1]} {args[0]}", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and args[0][:1].isalnum() and not ctx.resilient_parsing:
            suggestion = did_you_mean(args[0], COMMANDS).capitalize()
            raise click.UsageError(f"No such command {args[0]!r}. {suggestion}".strip(), ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes commands without importing them."""
        entries = (*COMMANDS.items(), HELP)
        found = [CompletionItem(name, help=text) for name, text in entries if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"gtp_engine.clients.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), HELP])

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command. What a user did wrong is shown in one line, a bug with its traceback; the exit status is 1.

        `python -X dev -m gtp_engine ...` shows the traceback of a user's error too.
        """
        try:
            with interrupts.end_at_once():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
        except click.ClickException as error:
            _make_readable(error)
            raise
        except (BrokenPipeError, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if sys.flags.dev_mode:
                raise
            if not isinstance(error, EXPECTED):
                traceback.print_exception(error)
                bug = f"{answer_text(error)} ({error_place(error)})"
                raise click.ClickException(f"{bug}; this is a bug, please report it with the lines above") from error
            raise click.ClickException(answer_text(error)) from error


def _make_readable(error: click.ClickException) -> None:
    """Removes escape sequences from an error, which may quote the name of a file, and wraps it for a terminal."""
    text = printable(error.format_message())
    if sys.stderr is not None and sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(f"Error: {text}", width, break_long_words=False, break_on_hyphens=False)[len("Error: ") :]
    error.format_message = lambda: text  # type: ignore[method-assign]


_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}


@click.group(cls=LazyGroup, context_settings=_CONTEXT)
@click.version_option(VERSION, "-V", "--version", prog_name="gtp_engine")
def main() -> None:
    """An engine for the game of Go: play against it, review games, train networks, connect it to other programs.

    \b
    Examples:
      gtp_engine play                              a game on 9x9, you are Black
      gtp_engine play --board-size 19 --rank 10k   19x19 against a weaker opponent
      gtp_engine web                               the same in the browser
      gtp_engine gtp --seconds 10                  for a GUI, 10 s per move
      gtp_engine review game.sgf                   find the mistakes in a game
      gtp_engine doctor                            what to enter in Sabaki, GoGui, Lizzie
      gtp_engine help play                         the options of a command

    Exit status: 0 on success, 1 on error, 2 for a bad command line, 130 after Ctrl-C, which stops any command and keeps
    its finished work.
    """
    configure_process()
