"""Where the values of options come from: the command line, environment variables, a settings file, the user's file.

Each place overrides those after it in this order. The user's configuration is TOML: settings at its top are common to
all commands that have them, a table named after a command has the settings of this command, search parameters are in
`[search]`, or in `[gtp.search]` for one command, and `nets.library` reads `[networks]`. A settings file (`--settings`)
has the settings of its command at the top. Options that belong together replace each other's values from places that
count less.
"""

import datetime
import os
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ...base.errors import UserError
from ...base.fields import Text, unknown
from ...base.files import read_text
from ...base.folders import CONFIGURATION, configuration_file
from ...base.nesting import parse_toml
from ...nets.library import OWN_TABLE, own_networks
from ...search.parameters import SearchParameters, find_parameter
from . import COMMANDS
from .options import Option, Value

SEARCH = "search"  # the table of the search's parameters
# The settings that may be at the top of the file: those that mean the same in all commands.
COMMON_SETTINGS = ("network", "rank", "visits", "seconds", "rules", "threads", "device", "precision", "language")
# The tables. The commands `network` and `rank` have none: at the top, their names are settings.
_TABLES = (*(name for name in COMMANDS if name not in (*COMMON_SETTINGS, "config")), SEARCH, OWN_TABLE)
_PARAMETERS = f"{__name__}.{SEARCH}"  # their place in a context
_ABOVE_FILES = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
_PLACES = (*_ABOVE_FILES, ParameterSource.DEFAULT_MAP)


def is_given(option: str) -> bool:
    """Whether an option is on the command line, and not a default, also one of the user's."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def refuse_given(names: Sequence[str], reason: str) -> None:
    """Raises UsageError for the first of these options that is given; `{}` in the reason stands for its name."""
    for option in click.get_current_context().command.params:
        if option.name in names and is_given(option.name):
            raise click.UsageError(reason.format(option.opts[0]))


def use_configuration(ctx: click.Context) -> None:
    """Makes the settings of the user's configuration the defaults of a command.

    Raises ClickException if a setting is unknown or has an invalid value, the file is not TOML, or the environment
    variable names a file that does not exist, a folder or a pipe; OSError if the file, or its folder, cannot be read.
    """
    path, command = configuration_file(), ctx.command
    is_named = path is not None and os.environ.get(CONFIGURATION)
    if path is not None and is_named and not path.exists():
        remedy = "create it with `gtp_engine config --create`"
        raise click.ClickException(f"{CONFIGURATION} names {path}, which does not exist; {remedy}")
    if path is not None and is_named and not os.path.isfile(path) and str(path).lower() != os.devnull:
        kind = "folder" if path.is_dir() else "pipe or a device"  # it is read several times
        raise click.ClickException(f"{CONFIGURATION} names {path}, which is a {kind}; name a file")
    if path is None or not os.path.isfile(path):  # unlike Path's, False in another user's home
        return
    with _errors_in(path):
        common, tables = _parts(parse_toml(read_text(path)))
        options = {name: option for name, option in settings_of(command).items() if option.envvar}
        _use_values(ctx, {options[name]: value for name, value in common.items() if name in options}, path.parent)
        if _takes_parameters(command):
            _use_parameters(ctx, tables.get(SEARCH, {}))
    with _errors_in(path, f"[{command.name}] "):
        _use_table(ctx, tables.get(str(command.name), {}), path.parent)


def check_configuration(path: Path) -> None:
    """Raises ClickException or UserError if the commands refuse this file: it is not TOML, or a setting is unknown."""
    with _errors_in(path):
        _parts(parse_toml(read_text(path)))
    own_networks()


def _parts(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Returns the common settings, and the tables of commands and search; UserError if one is unknown."""
    for name, value in settings.items():
        if name in _TABLES and not isinstance(value, dict):
            raise UserError(f"'{name}' is not a table; write [{name}]")
        if name in COMMON_SETTINGS and isinstance(value, dict):
            why = f"; the command `{name}` has no table" if name in COMMANDS else ""
            raise UserError(f"'{name}' is a setting, not a table; write {name} = VALUE at the top{why}")
        if name not in (*COMMON_SETTINGS, *_TABLES):
            accepted = (*COMMON_SETTINGS, *(f"[{table}]" for table in _TABLES))
            raise unknown("setting", name, (*COMMON_SETTINGS, *_TABLES), accepted=accepted)
    common = {name: value for name, value in settings.items() if name in COMMON_SETTINGS}
    return common, {name: value for name, value in settings.items() if name in _TABLES}


def read_settings(ctx: click.Context, _: click.Parameter, path: Path | None) -> dict[str, Any]:
    """Uses the options of a settings file as defaults, which the command line overrides.

    The callback of --settings, which click calls before it reads the other options. Returns the search parameters of
    the user's configuration and of the file.
    """
    if path is not None:
        with _errors_in(path):
            _use_table(ctx, parse_toml(read_text(path)), path.parent)
    parameters: dict[str, Any] = ctx.meta.get(_PARAMETERS, {})
    return parameters


@contextmanager
def _errors_in(path: Path, place: str = "") -> Iterator[None]:
    """Within a `with` block, errors about a file's content are shown in one line with its path and `place` in it."""
    try:
        yield
    except (tomllib.TOMLDecodeError, UserError) as error:
        raise click.ClickException(f"{path}: {place}{error}") from error


def _use_table(ctx: click.Context, table: dict[str, Any], folder: Path) -> None:
    """Makes a table's options the defaults of a command, and adds its search parameters to earlier ones.

    Relative names of files start from the folder. Raises UserError if a setting is unknown or has an invalid value.
    """
    settings = dict(table)
    if _takes_parameters(ctx.command):
        _use_parameters(ctx, settings.pop(SEARCH, {}))
    accepted = settings_of(ctx.command)
    shown = sorted(name for name, option in accepted.items() if not option.hidden)
    for name in settings:
        if name not in accepted:
            tables = [f"[{SEARCH}]"] if _takes_parameters(ctx.command) else []
            raise unknown("setting", name, shown, accepted=[*shown, *tables])
    given = {accepted[name]: value for name, value in settings.items()}
    words = {getattr(option, "together", "") for option in given} - {""}
    replaced = {option.name for option in accepted.values() if getattr(option, "together", "") in words}
    ctx.default_map = {name: value for name, value in (ctx.default_map or {}).items() if name not in replaced}
    _use_values(ctx, given, folder)


def _takes_parameters(command: click.Command) -> bool:
    """Returns whether settings files of a command may have a table of search parameters."""
    return any(param.callback is read_settings for param in command.params)


def _use_parameters(ctx: click.Context, table: object) -> None:
    """Adds search parameters to those of earlier tables, which they override; UserError if one is wrong."""
    if not isinstance(table, dict):
        raise UserError(f"'{SEARCH}' is not a table; write [{SEARCH}]")
    SearchParameters().with_values(table)
    named = {find_parameter(name): value for name, value in table.items()}
    ctx.meta[_PARAMETERS] = ctx.meta.get(_PARAMETERS, {}) | named


def _use_values(ctx: click.Context, values: dict[click.Option, Any], folder: Path) -> None:
    """Makes TOML values the defaults of options, as `_use_table` does; raises UserError for an invalid one."""
    defaults = {str(option.name): _checked_value(ctx, option, value, folder) for option, value in values.items()}
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def settings_of(command: click.Command) -> dict[str, click.Option]:
    """Returns the options that a settings file may set, by their names there."""
    options = {_setting_name(param): param for param in command.params if isinstance(param, click.Option)}
    return {name: option for name, option in options.items() if name not in ("set", "settings")}


def _setting_name(option: click.Option) -> str:
    """Returns an option's name in a settings file."""
    name = next((name for name in option.opts if name.startswith("--")), option.opts[0])
    return name.lstrip("-").replace("-", "_")


def _checked_value(ctx: click.Context, option: click.Option, value: object, folder: Path) -> object:
    """Returns a TOML value as the text of a command line; raises UserError if the option rejects it."""
    name = _setting_name(option)
    if option.is_flag:
        if not isinstance(value, bool):
            raise UserError(f"{name}: expected true or false, got {value!r}")
        return value
    takes_several = option.multiple or option.nargs != 1
    values = value if takes_several and isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float | datetime.date) and not isinstance(item, bool) for item in values):
        raise UserError(f"{name}: expected one number or text, got {value!r}")
    if any("\0" in str(item) for item in values):  # which no path may have
        raise UserError(f"{name}: expected text without NUL characters, got {value!r}")
    texts = [_located(option.type, str(item), folder) for item in values]
    try:
        option.type_cast_value(ctx, texts if takes_several else texts[0])
    except click.BadParameter as error:
        raise UserError(f"{name}: {error.message}") from error
    return texts if takes_several else texts[0]


def _located(kind: click.ParamType, text: str, folder: Path) -> str:
    """Returns a value, with the name of a file or a folder made independent of where the program starts."""
    path = os.path.expanduser(text)  # no shell has done that
    may_be_path = isinstance(kind, Value) and isinstance(kind.accepts, Text) and kind.accepts.is_path
    is_named_file = may_be_path and (len(Path(path).parts) > 1 or (folder / path).is_file())
    is_path = isinstance(kind, click.Path) and path != "-"
    return str(folder.absolute() / path) if is_path or is_named_file else path


def keep_strongest(ctx: click.Context) -> None:
    """Of options that belong together, drops the values from places that count less than another one's."""
    groups: dict[str, list[Option]] = {}
    for param in ctx.command.params:
        if isinstance(param, Option) and param.together:
            groups.setdefault(param.together, []).append(param)
    for group in groups.values():
        places = {option: ctx.get_parameter_source(str(option.name)) for option in group}
        strongest = next((place for place in _PLACES if place in places.values()), None)
        for option, place in places.items():
            if strongest in _ABOVE_FILES and place is not strongest:
                ctx.params[str(option.name)] = option.unset
