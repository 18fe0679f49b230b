"""`gtp_engine config`: the user's configuration file."""

from dataclasses import dataclass
from pathlib import Path

import click

from ...base.errors import UserError
from ...base.files import write_text
from ...base.folders import configuration_file
from ...base.languages.texts import LANGUAGES
from ...base.messages import printable
from ...base.settings import setting
from .command import command
from .defaults import check_configuration

TEMPLATE = f"""\
# Your own defaults for all commands of gtp_engine. Remove the "#" before a setting to use it.
# The command line overrides environment variables (GTP_ENGINE_NETWORK and so on), which override this file.

# Settings that all commands have in common.

# A network's name or file; "auto": that of [networks], or the bundled one for the board; "none": random rollouts.
#network = "auto"

# CPU threads, all of them by default; the device and the numeric precision of networks.
#threads = 4
#device = "cpu"
#precision = "auto"

# Limits of each search, in seconds and visits; it ends at whichever comes first.
#seconds = 5
#visits = 1000

# The rank to play at, 25k to 5d, or "max" for full strength.
#rank = "12k"

# Ruleset: "chinese", "japanese", "aga", ...
#rules = "chinese"

# Language of the page of a review: {", ".join(LANGUAGES)}.
#language = "en"

# Networks that judge in place of the bundled one, with the least and the most points of the board's longer side.
#[networks]
#kata9x9-b18c384nbt-20231025 = [9, 9]

# Parameters of the search; docs/reference.md describes them.
#[search]
#c_puct = 1.1

# Settings of one command: its options by name, with underscores for hyphens; `gtp_engine help play` lists them.
# They override the common ones.
#[play]
#board_size = "13x13"
#colour = "random"
#show = "score"

#[gtp]
#ponder = true
#resign = false

#[gtp.search]
#reuse_tree = true

#[review]
#minutes = 3
#by = "winrate"
"""


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
