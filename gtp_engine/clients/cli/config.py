"""`gtp_engine config`: the user's configuration file."""

import os
from dataclasses import dataclass
from pathlib import Path

import click

from ...base.errors import UserError
from ...base.files import write_text
from ...base.folders import configuration_file
from ...base.messages import printable
from ...base.settings import setting
from .command import command
from .defaults import check_configuration

TEMPLATE = Path(__file__).with_name("config.toml").read_text("utf-8")


@dataclass(frozen=True)
class ConfigOptions:
    """What to do with the file.

    Attributes:
        create: Create the file from the template, if it does not exist yet.
        template: Print the template: the most common settings with their meanings.
    """

    create: bool = setting(False, is_flag=True)
    template: bool = setting(False, is_flag=True)


@command(is_configurable=False, groups={"options": ConfigOptions})  # it must show a file that is wrong
def config(options: ConfigOptions) -> None:
    """Show or create the configuration file: your own defaults for all commands.

    Settings at the top of the file are common to all commands that have them; a table such as [play] has the settings
    of one command, named as its options are with underscores for hyphens; [search] has search parameters. The command
    line overrides environment variables, which override the file.

    \b
    Examples:
      gtp_engine config                 the name of the file and its content
      gtp_engine config --create        create it; all is commented out
      gtp_engine config --template      print what --create would write
    """
    path = configuration_file()
    if options.template:
        click.echo(TEMPLATE, nl=False)
    elif path is None:
        raise UserError("this user has no home folder: set HOME, or GTP_ENGINE_CONFIG to the name of a file")
    elif options.create:
        if _exists(path):
            raise UserError(f"{path} already exists: edit it")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, TEMPLATE)
        click.echo(f"wrote {path}")
    elif _exists(path):
        if os.path.isfile(path):  # a device might not end
            click.echo(printable(f"# {path}\n{path.read_text('utf-8-sig', 'replace').expandtabs(4)}"), nl=False)
        check_configuration(path)
    else:
        click.echo(f"{path} does not exist; create it with `gtp_engine config --create`")


def _exists(path: Path) -> bool:
    """Returns whether the file exists; raises UserError if its folder cannot be read, such as another user's home."""
    try:
        path.stat()
    except PermissionError as error:
        raise UserError(f"{path} cannot be read: set HOME, or GTP_ENGINE_CONFIG to the name of a file") from error
    except OSError:
        return False
    return True
