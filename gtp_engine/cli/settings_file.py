"""Settings files: TOML tables whose entries become the defaults of a command's options."""

import datetime
import functools
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..base.errors import UserError
from ..base.fields import unknown
from .name_types import NetworkName

SEARCH = "search"  # the table of the search's parameters
LIMITS = ("visits", "seconds")  # of a search
_TOGETHER = (LIMITS, ("network", "model"))  # one of them replaces both of a place that counts less
_PARAMETERS = f"{__name__}.{SEARCH}"  # their place in a context


def read_settings(ctx: click.Context, _: click.Parameter, path: Path | None) -> tuple[str, ...]:
    """Uses the options of a settings file as defaults, which the command line overrides.

    The callback of --settings, which click calls before it reads the other options.

    Returns:
        The search parameters of the user's configuration and of the file as NAME=VALUE.
    """
    if path is not None:
        with errors_in(path):
            use_table(ctx, read_table(path), path.parent)
    parameters: tuple[str, ...] = ctx.meta.get(_PARAMETERS, ())
    return parameters


@contextmanager
def errors_in(path: Path, place: str = "") -> Iterator[None]:
    """Within a `with` block, errors about a file's content are shown in one line with its path.

    Args:
        path: The file.
        place: What the line says before the error, such as `[play] `.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path}: not a text file in UTF-8") from error
    except (tomllib.TOMLDecodeError, UserError) as error:
        raise click.ClickException(f"{path}: {place}{error}") from error


def read_table(path: Path) -> dict[str, Any]:
    """Returns the content of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8-sig"))


def use_table(ctx: click.Context, table: dict[str, Any], folder: Path) -> None:
    """Makes a table's options the defaults of a command, and adds its search parameters to earlier ones.

    Args:
        ctx: The command's context.
        table: The options by name.
        folder: The folder of the settings file, which relative names of files start from.

    Raises:
        UserError: A setting is unknown or has an invalid value.
    """
    settings = dict(table)
    if takes_parameters(ctx.command):
        use_parameters(ctx, settings.pop(SEARCH, {}))
    accepted = settings_of(ctx.command)
    shown = sorted(name for name, option in accepted.items() if not option.hidden)
    for name in settings:
        if name not in accepted:
            tables = [f"[{SEARCH}]"] if takes_parameters(ctx.command) else []
            raise unknown("setting", name, shown, accepted=[*shown, *tables])
    replaced = {name for names in _TOGETHER if set(names) & settings.keys() for name in names}
    ctx.default_map = {name: value for name, value in (ctx.default_map or {}).items() if name not in replaced}
    use_values(ctx, {accepted[name]: value for name, value in settings.items()}, folder)


def takes_parameters(command: click.Command) -> bool:
    """Returns whether settings files of a command may have a table of search parameters."""
    return any(param.callback is read_settings for param in command.params)


def use_parameters(ctx: click.Context, table: object) -> None:
    """Adds search parameters to those of earlier tables, which they override.

    Raises:
        UserError: A parameter is unknown or has an invalid value.
    """
    from ..search.parameters import SearchParameters, parse_setting

    if not isinstance(table, dict):
        raise UserError(f"'{SEARCH}' is not a table; write [{SEARCH}]")
    settings = tuple(f"{name}={value}" for name, value in table.items())
    functools.reduce(parse_setting, settings, SearchParameters())
    ctx.meta[_PARAMETERS] = ctx.meta.get(_PARAMETERS, ()) + settings


def use_values(ctx: click.Context, values: dict[click.Option, Any], folder: Path) -> None:
    """Makes TOML values the defaults of options, as `use_table` does; raises UserError for an invalid one."""
    defaults = {str(option.name): _checked_value(ctx, option, value, folder) for option, value in values.items()}
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def setting_name(option: click.Option) -> str:
    """Returns an option's name in a settings file."""
    name = next((name for name in option.opts if name.startswith("--")), option.opts[0])
    return name.lstrip("-").replace("-", "_")


def settings_of(command: click.Command) -> dict[str, click.Option]:
    """Returns the options that a settings file may set, by their names there."""
    options = {setting_name(param): param for param in command.params if isinstance(param, click.Option)}
    return {name: option for name, option in options.items() if name not in ("set", "settings")}


def _checked_value(ctx: click.Context, option: click.Option, value: object, folder: Path) -> object:
    """Returns a TOML value as the text of a command line; raises UserError if the option rejects it."""
    name = setting_name(option)
    if option.is_flag:
        if not isinstance(value, bool):
            raise UserError(f"{name}: expected true or false, got {value!r}")
        return value
    takes_several = option.multiple or option.nargs != 1
    values = value if takes_several and isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float | datetime.date) and not isinstance(item, bool) for item in values):
        raise UserError(f"{name}: expected one number or text, got {value!r}")
    texts = [_located(option.type, str(item), folder) for item in values]
    try:
        option.type_cast_value(ctx, texts if takes_several else texts[0])
    except click.BadParameter as error:
        raise UserError(f"{name}: {error.message}") from error
    return texts if takes_several else texts[0]


def _located(kind: click.ParamType, text: str, folder: Path) -> str:
    """Returns a value, with the name of a file or a folder made independent of where the program starts."""
    path = os.path.expanduser(text)  # no shell has done that
    is_network_file = isinstance(kind, NetworkName) and (len(Path(path).parts) > 1 or (folder / path).is_file())
    is_path = isinstance(kind, click.Path) and path != "-"
    return str(folder.absolute() / path) if is_path or is_network_file else path
