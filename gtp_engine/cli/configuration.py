"""The user's configuration file: TOML with the defaults of all commands.

Settings at its top are common to the commands that have them; a table named after a command has the settings of this
command. Parameters of the search are in `[search]`, or in `[gtp.search]` for one command. Each common setting is an
environment variable as well. The command line overrides environment variables, they override settings files
(`--settings`), and these override the configuration.
"""

import os
from typing import Any

import click

from ..base.errors import UserError
from ..base.fields import unknown
from ..base.folders import CONFIGURATION, configuration_file
from . import COMMANDS
from .option_types import NO_LEVELS
from .settings_file import SEARCH, errors_in, read_table, takes_parameters, use_parameters, use_table, use_values

# The settings that may be at the top of the file: those that mean the same in all commands.
COMMON_SETTINGS = ("network", "rank", "visits", "seconds", "rules", "threads", "device", "precision", "language")
_OLD_LEVEL = "level"  # of earlier versions
# The tables. The commands `network` and `rank` have none: at the top, their names are settings.
_TABLES = (*(name for name in COMMANDS if name not in (*COMMON_SETTINGS, "config")), SEARCH)


def variable(setting: str) -> str:
    """Returns the environment variable of a common setting."""
    return f"GTP_ENGINE_{setting.upper()}"


def use_configuration(ctx: click.Context) -> None:
    """Makes the settings of the configuration file the defaults of a command.

    Raises:
        ClickException: A setting is unknown or has an invalid value, the file is not TOML, or the environment variable
            names a file that does not exist.
        OSError: The file, or the folder of the file that the variable names, cannot be read.
    """
    path, command = configuration_file(), ctx.command
    if path is not None and os.environ.get(CONFIGURATION) and not path.exists():
        remedy = "create it with `gtp_engine config --create`"
        raise click.ClickException(f"{CONFIGURATION} names {path}, which does not exist; {remedy}")
    if path is None or not os.path.isfile(path):  # unlike Path's, False in another user's home
        return
    with errors_in(path):
        common, tables = _parts(read_table(path))
        options = {param.envvar: param for param in command.params if isinstance(param, click.Option)}
        known = {options[variable(key)]: value for key, value in common.items() if variable(key) in options}
        use_values(ctx, known, path.parent)
        if takes_parameters(command):
            use_parameters(ctx, tables.get(SEARCH, {}))
    with errors_in(path, f"[{command.name}] "):
        use_table(ctx, tables.get(str(command.name), {}), path.parent)


def _parts(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Returns the common settings, and the tables of the commands and of the search.

    Raises:
        UserError: A setting or a table is unknown.
    """
    for name, value in settings.items():
        if name == _OLD_LEVEL:
            raise UserError(NO_LEVELS)
        if name in _TABLES and not isinstance(value, dict):
            raise UserError(f"'{name}' is not a table; write [{name}]")
        if name in COMMON_SETTINGS and isinstance(value, dict):
            why = f"; the command `{name}` has no table" if name in COMMANDS else ""
            raise UserError(f"'{name}' is a setting, not a table; write {name} = VALUE at the top{why}")
        if name not in (*COMMON_SETTINGS, *_TABLES):
            accepted = (*COMMON_SETTINGS, *(f"[{table}]" for table in _TABLES))
            raise unknown("setting", name, (*COMMON_SETTINGS, *_TABLES), accepted=accepted)
    tables = {name: value for name, value in settings.items() if name in _TABLES}
    return {name: value for name, value in settings.items() if name in COMMON_SETTINGS}, tables
