"""Options made from declarations: each dataclass of settings that a command names is one of its arguments.

    @dataclass(frozen=True)
    class Output:
        \"\"\"Where the result goes.

        Attributes:
            sgf: Write an annotated SGF.
        \"\"\"

        sgf: Path | None = setting(None, accepts=FILE, heading="Output")

    @command(groups={"search": search_options(), "output": Output})
    def review(search: EngineSettings, output: Output) -> None: ...

The help of an option is its field's meaning. Metadata of a field, apart from those of `base.settings.setting`:

    flags     The option's names, by default the field's with hyphens; `argument=True` makes an argument instead.
    heading   The heading above it and the fields below it, up to the next one.
    help      Replaces the meaning.
    shown     A description of the default.
    what      What messages about a wrong value call it.
    common    Whether the user's configuration has it for all commands, with an environment variable.
    together  Settings with the same word replace each other, unless they come from the same place.

`metavar`, `multiple`, `nargs`, `hidden`, `required` and `is_flag` are click's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from click.shell_completion import CompletionItem

from ...base.errors import UserError
from ...base.fields import Flag, Range, Text, Words
from ...base.settings import UNLIMITED, like, settings_of

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXISTING_PATH = click.Path(exists=True, path_type=Path)
ANY_PATH = click.Path(path_type=Path)
FOLDER.name = EXISTING_FOLDER.name = "folder"  # for FOLDER in the help
FILE_OR_STANDARD = click.Path(dir_okay=False, allow_dash=True, path_type=Path)  # - is standard output
_OF_CLICK = ("metavar", "multiple", "nargs", "hidden", "required", "is_flag", "is_eager", "callback")


class Value(click.ParamType):
    """The values that a setting accepts; `what` is what messages call one."""

    def __init__(self, accepts: Range | Text, what: str) -> None:
        self.accepts, self.what = accepts, what
        self.name = "N" if isinstance(accepts, Range) else accepts.noun
        self.min, self.max = getattr(accepts, "low", None), getattr(accepts, "high", None)
        if self.max is not None and self.max >= UNLIMITED:
            self.max = None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(self.accepts, Text) and not isinstance(value, str):
            return value  # it has been parsed already
        try:
            return self.accepts.parse(self.what, value)
        except UserError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Returns the names that begin so; if there is none and it may be a file, the shell completes file names."""
        names = self.accepts.names() if isinstance(self.accepts, Text) and self.accepts.names else ()
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        is_path = isinstance(self.accepts, Text) and self.accepts.is_path
        return found or ([CompletionItem(incomplete, type="file")] if is_path else [])


class Option(click.Option):
    """An option of a setting, with its heading, its word `together`, and `unset`, its value if it is not given."""

    def __init__(self, *args: Any, heading: str = "", together: str = "", unset: Any = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.heading, self.together, self.unset = heading, together, unset


class Group:
    """The options of a dataclass, which are one argument of a command.

    They are those of its settings that have these `names`, or all. `changes` are metadata of fields that differ for
    this command, by the name of the field.
    """

    def __init__(
        self,
        kind: Any,
        names: Sequence[str] | None = None,
        changes: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> None:
        self.kind = kind
        known = settings_of(kind)
        self._fields = {name: like(kind, name, **changes.get(name, {})) for name in names or known}

    def parameters(self) -> list[click.Parameter]:
        """Returns the options and arguments, in their order."""
        heading, found = "", []
        for name, item in self._fields.items():
            heading = item.metadata.get("heading", heading)
            found.append(parameter(name, item, heading))
        return found

    def take(self, values: dict[str, Any]) -> Any:
        """Takes the values of the options out of those of the command, and returns the dataclass with them."""
        given = {name: values.pop(name) for name in self._fields}
        has_default = {name for name, item in self._fields.items() if item.default is not None}
        return self.kind(
            **{name: value for name, value in given.items() if value is not None or name not in has_default}
        )


def parameter(name: str, item: "Field[Any]", heading: str = "") -> click.Parameter:
    """Returns the option of a setting, or its argument, by its declaration as `like` returns it."""
    more = item.metadata
    settings: dict[str, Any] = {key: more[key] for key in _OF_CLICK if key in more}
    accepts = settings["type"] = more["accepts"]
    if isinstance(accepts, Words):
        settings["type"] = click.Choice(accepts.words)
    elif isinstance(accepts, Range | Text):
        settings["type"] = Value(accepts, more.get("what", "number"))
    default = None if item.default is MISSING else item.default
    if more.get("argument"):
        return click.Argument([name], **settings)
    if isinstance(accepts, Flag):
        settings.pop("type")
    if default is not None and default != ():
        settings["default"] = default
        if isinstance(default, float):
            settings["show_default"] = f"{default:g}"
    if "shown" in more:
        settings["show_default"] = more["shown"]
    if more.get("common"):
        settings["envvar"] = variable(name)
    words = name.replace("_", "-")
    is_switch = isinstance(accepts, Flag) and not more.get("is_flag")
    usual = f"--{words}/--no-{words}" if is_switch else f"--{words}"
    return Option(
        [*more.get("flags", [usual]), name],
        help=more["help"],
        heading=heading,
        together=more.get("together", ""),
        unset=default,
        **settings,
    )


def variable(setting: str) -> str:
    """Returns the environment variable of a common setting."""
    return f"GTP_ENGINE_{setting.upper()}"
