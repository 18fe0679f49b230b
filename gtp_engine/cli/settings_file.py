"""Settings files: TOML tables whose entries become the defaults of a command's options."""

import functools
import tomllib
from pathlib import Path
from typing import Any

import click

from ..base.errors import UserError
from ..base.fields import unknown


def read_settings(ctx: click.Context, _: click.Parameter, path: Path | None) -> tuple[str, ...]:
    """Uses the options of a settings file as defaults, which the command line overrides.

    The callback of --settings, which click calls before it reads the other options.

    Returns:
        The file's search parameters as NAME=VALUE.
    """
    if path is None:
        return ()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        parameters = _checked_parameters(table.pop("search", {}))
        ctx.default_map = {**(ctx.default_map or {}), **_option_defaults(ctx, table)}
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path}: not a text file in UTF-8") from error
    except (tomllib.TOMLDecodeError, UserError) as error:
        raise click.ClickException(f"{path}: {error}") from error
    return parameters


def _checked_parameters(table: object) -> tuple[str, ...]:
    """Returns the search's parameters as NAME=VALUE; raises UserError for one that is not accepted."""
    from ..search.parameters import SearchParameters, parse_setting

    if not isinstance(table, dict):
        raise UserError("'search' is not a table; write [search]")
    settings = tuple(f"{name}={value}" for name, value in table.items())
    functools.reduce(parse_setting, settings, SearchParameters())
    return settings


def _option_defaults(ctx: click.Context, table: dict[str, Any]) -> dict[str, Any]:
    """Returns click's default map; raises UserError for a setting that is unknown or has an invalid value."""
    options = {param.opts[0].lstrip("-").replace("-", "_"): param for param in ctx.command.params}
    accepted = {
        name: option
        for name, option in options.items()
        if isinstance(option, click.Option) and name not in ("set", "settings")
    }
    defaults = {}
    for name, value in table.items():
        if name not in accepted:
            raise unknown("setting", name, sorted(accepted), accepted=[*sorted(accepted), "[search]"])
        try:
            defaults[str(accepted[name].name)] = _checked_value(ctx, accepted[name], value)
        except UserError as error:
            raise UserError(f"{name}: {error}") from error
        except click.BadParameter as error:
            raise UserError(f"{name}: {error.message}") from error
    return defaults


def _checked_value(ctx: click.Context, option: click.Option, value: object) -> object:
    """Returns a TOML value as the text of a command line; raises BadParameter or UserError if the option rejects it."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UserError(f"expected true or false, got {value!r}")
        return value
    values = value if option.multiple and isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float) and not isinstance(item, bool) for item in values):
        raise UserError(f"expected one number or text, got {value!r}")
    texts = [str(item) for item in values]
    option.type_cast_value(ctx, texts if option.multiple else texts[0])
    return texts if option.multiple else texts[0]
