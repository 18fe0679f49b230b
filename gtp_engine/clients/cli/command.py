"""Commands as this program shows them: options under headings, the most common ones first, and -q and -v everywhere.

The options of a command are made from dataclasses of settings, its groups (`options`); click's `params` adds others.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from ...base.fields import similar
from ...base.log import NOTICE, log_level
from ...base.settings import setting
from .defaults import keep_strongest, use_configuration
from .options import Group

COMMON = "Common options"
OTHER = "Other options"
_NAME_WIDTH = 30  # columns for the names of options; the text of a longer one begins on the next line
# What an option of other commands is called here.
_OF_OTHERS: Mapping[str, Sequence[str]] = {"out": ("sgf-dir",), "sgf-dir": ("out",)}
# Names with one hyphen and several letters are accepted for KataGo's sake, and not shown.
_KATAGO_STYLE = re.compile(r"(?<!-)-\w[\w-]+, ")


@dataclass(frozen=True)
class ReportingOptions:
    """What is reported meanwhile.

    Attributes:
        verbose: Report details on stderr, such as the network, its device and threads.
        quiet: Report only errors on stderr.
    """

    verbose: bool = setting(False, flags=["-v", "--verbose"], is_flag=True, together="reporting")
    quiet: bool = setting(False, flags=["-q", "--quiet"], is_flag=True, together="reporting")


_REPORTING = Group(ReportingOptions)


class Command(click.Command):
    """A command whose defaults may come from the user's configuration file, unless it is not `is_configurable`.

    Args:
        common: The names of the options that the help shows first.
        groups: Dataclasses of settings, or `Group`s of them, by the names of the arguments that have their values.
        exclusive: Pairs of options, `together`, that exclude each other, by the names of their parameters.
    """

    def __init__(
        self,
        *args: Any,
        common: Sequence[str] = (),
        groups: Mapping[str, Any] | None = None,
        exclusive: Sequence[tuple[str, str]] = (),
        is_configurable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.common, self.is_configurable = common, is_configurable
        self._exclusive = (*exclusive, ("verbose", "quiet"))
        made = {name: kind if isinstance(kind, Group) else Group(kind) for name, kind in (groups or {}).items()}
        self._groups = made
        self.params += [param for group in (*made.values(), _REPORTING) for param in group.parameters()]

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
            raise _no_such_option(error.option_name, typed, ctx) from error
        if not ctx.resilient_parsing:
            keep_strongest(ctx)
            for pair in self._exclusive:
                if all(ctx.params[name] for name in pair):
                    options = (next(param.opts[-1] for param in self.params if param.name == name) for name in pair)
                    raise click.UsageError(f"choose {' or '.join(options)}, not both", ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        reporting = _REPORTING.take(ctx.params)
        with log_level(logging.INFO if reporting.verbose else logging.ERROR if reporting.quiet else NOTICE):
            for name, group in self._groups.items():
                ctx.params[name] = group.take(ctx.params)
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
                found[COMMON][place] = _description(param, ctx)
            else:
                found.setdefault(getattr(param, "heading", "") or OTHER, []).append(_description(param, ctx))
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


def _description(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Returns an option's names, and its text with default, range and environment variable."""
    extra = option.get_help_extra(ctx)
    default = extra.get("default")
    if option.default is False and str(default).startswith("no-"):
        default = None  # the name of the option says enough
    if isinstance(option.show_default, str):  # a description of the default, which click puts in parentheses
        own = (ctx.default_map or {}).get(option.name or "", option.show_default)
        default = ", ".join(own) if isinstance(own, list) else str(own)
    facts = [f"default: {default}"] if default else []
    if (low := getattr(option.type, "min", None)) is not None and (high := getattr(option.type, "max", None)):
        facts.insert(0, f"{low:g} to {high:g}")
    if option.envvar:
        facts.append(f"env: {option.envvar}")
    record = option.get_help_record(ctx)
    assert record is not None
    text = option.help or ""
    return _KATAGO_STYLE.sub("", record[0]), f"{text}  [{'; '.join(facts)}]" if facts else text


def _no_such_option(name: str, typed: Sequence[str], ctx: click.Context) -> click.NoSuchOption:
    """Returns the error for an unknown option, as click names it, of a command line.

    Click compares the hyphens too, so that it takes `--white` for `--help`, and of `-modell` it names only `-m`.
    """
    known = {option for param in ctx.command.get_params(ctx) for option in (*param.opts, *param.secondary_opts)}
    words = (word.partition("=")[0] for word in typed)
    if len(name) == 2:
        name = next((word for word in words if word.startswith(name) and word not in known), name)
    names = [option for param in ctx.command.get_params(ctx) for option in param.opts if option.startswith("--")]
    word, others = name.lstrip("-"), [option[2:] for option in names]
    near = [f"'--{option}'" for option in similar(word, others) or _OF_OTHERS.get(word, ()) if option in others]
    guess = f" Did you mean {' or '.join(near)}?" if near else ""
    return click.NoSuchOption(name, f"No such option {name!r}.{guess}", ctx=ctx)
