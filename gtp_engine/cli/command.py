"""Commands as this program shows them: options under headings, the most common ones first, and -q and -v everywhere.

The texts between the options are the headings:

    _OPTIONS = ("Output", click.option("--sgf", help="Write an annotated SGF."))
    @command(common=("network", "sgf"))
    @options(*_OPTIONS)
    def review(**values: Any) -> None: ...
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any

import click
from click.core import ParameterSource

from ..base.log import NOTICE, log_level
from .configuration import use_configuration
from .error_messages import no_such_option
from .option_help import description, metavar

COMMON = "Common options"
OTHER = "Other options"
_NAME_WIDTH = 30  # columns for the names of options; the text of a longer one begins on the next line


def options(*entries: str | Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds arguments and options to a function; the help shows them in this order.

    Args:
        *entries: Decorators such as those of `click.option`, each text between them being the heading of those after
            it. A decorator may add several options, with headings of their own.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        headings = [""]
        for entry in entries:
            headings.append(entry if isinstance(entry, str) else headings[-1])
        for entry, heading in reversed(tuple(zip(entries, headings[1:], strict=True))):
            if not isinstance(entry, str):
                function = entry(function)
                _put_under(heading, function)
        return function

    return decorate


def _put_under(heading: str, function: Callable[..., Any]) -> None:
    """Puts the options of a function that have no heading yet under this one."""
    for param in getattr(function, "__click_params__", ()) if heading else ():
        if not hasattr(param, "heading"):
            param.heading = heading


class Command(click.Command):
    """A command whose defaults may come from the user's configuration file.

    Args:
        common: The names of the options that the help shows first.
        exclusive: Pairs of options that exclude each other, by the names of their parameters.
        is_configurable: Whether to read that file.
    """

    def __init__(
        self,
        *args: Any,
        common: Sequence[str] = (),
        exclusive: Sequence[tuple[str, str]] = (),
        is_configurable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.common, self.is_configurable = common, is_configurable
        self._exclusive = (*exclusive, ("verbose", "quiet"))
        self.params += [
            click.Option(
                ["-v", "--verbose"],
                is_flag=True,
                help="Report details on stderr, such as the network, its device and threads.",
            ),
            click.Option(["-q", "--quiet"], is_flag=True, help="Report only errors on stderr."),
        ]
        for param in self.params:
            if isinstance(param, click.Option) and param.metavar is None:
                param.metavar = metavar(param)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the user's configuration, which sets defaults, and then the command line."""
        if self.is_configurable and not ctx.resilient_parsing:
            with suppress(click.ClickException, OSError) if {"-h", "--help"} & set(args) else nullcontext():
                use_configuration(ctx)
        typed = list(args)  # click removes them from `args` one by one
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            if (param := error.param) and ctx.get_parameter_source(str(param.name)) is ParameterSource.ENVIRONMENT:
                error.param_hint = str(param.envvar)
            raise
        except click.NoSuchOption as error:
            raise no_such_option(error.option_name, typed, ctx) from error
        for pair in () if ctx.resilient_parsing else self._exclusive:
            self._choose(ctx, pair)
        return rest

    def _choose(self, ctx: click.Context, pair: tuple[str, str]) -> None:
        """Drops the user's default of one of two options if the other one is on the command line."""
        if all(ctx.params[name] for name in pair):
            defaults = [name for name in pair if not is_given(ctx, name)]
            if len(defaults) != 1:
                first, second = (next(param.opts[-1] for param in self.params if param.name == name) for name in pair)
                raise click.UsageError(f"choose {first} or {second}, not both", ctx)
            ctx.params[defaults[0]] = None

    def invoke(self, ctx: click.Context) -> Any:
        verbose, quiet = (ctx.params.pop(name) for name in ("verbose", "quiet"))
        with log_level(logging.INFO if verbose else logging.ERROR if quiet else NOTICE):
            return super().invoke(ctx)

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Returns the names and the descriptions of the options by heading, in the order of the help."""
        common = [f"--{name}" for name in self.common]
        found: dict[str, list[tuple[str, str]]] = {COMMON: [("", "")] * len(common)} if common else {}
        for param in self.get_params(ctx):
            if not isinstance(param, click.Option) or param.hidden:
                continue
            place = next((common.index(name) for name in param.opts if name in common), None)
            if place is not None:
                found[COMMON][place] = description(param, ctx)
            else:
                found.setdefault(getattr(param, "heading", OTHER), []).append(description(param, ctx))
        others = found.pop(OTHER, [])  # among them --help
        return {**found, OTHER if found else "Options": others}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = self.sections(ctx)
        width = min(_NAME_WIDTH, max(len(names) for records in sections.values() for names, _ in records))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(names.ljust(width), text) for names, text in records])


def command(**settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """Makes a `Command` from a function; `settings` are its arguments."""
    return click.command(cls=Command, **settings)


def is_given(context: click.Context, option: str) -> bool:
    """Whether an option is on the command line, and not a default, also one of the user's."""
    return context.get_parameter_source(option) is ParameterSource.COMMANDLINE
