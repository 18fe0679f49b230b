"""The settings of a run as TOML: `settings.toml` in its folder, presets, and files that users write."""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import tomlkit

from ..base.errors import UserError
from ..base.fields import Range, invalid, unknown
from ..base.files import read_text
from ..base.nesting import parse_toml
from ..base.settings import accepted, comment_of, settings_of
from .run_settings import RunSettings, sections_of

VERSION = 1  # of the file
_COMMENT_WIDTH = 100


def to_toml(settings: RunSettings) -> str:
    """Returns all settings that have an effect as TOML, each with its meaning in a comment."""
    document = tomlkit.document()
    document.add("version", tomlkit.item(VERSION))
    for name in sections_of(settings.command):
        table = tomlkit.table()
        values = getattr(settings, name)
        about = " ".join((type(values).__doc__ or "").partition("\n\n")[0].split())
        for line in textwrap.wrap(about, _COMMENT_WIDTH):
            table.add(tomlkit.comment(line))
        for item in settings_of(values, settings.command).values():
            table.add(tomlkit.nl())
            for line in textwrap.wrap(comment_of(values, item.name), _COMMENT_WIDTH):
                table.add(tomlkit.comment(line))
            table.add(item.name, toml_value(getattr(values, item.name)))
        document.add(name, table)
    return tomlkit.dumps(document)


def toml_value(value: Any) -> Any:
    """Returns a setting's value as TOML; its method `as_string` returns the text."""
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update(value)
        return table
    return tomlkit.item(value)


def read_settings(path: Path, text: str | None = None) -> RunSettings:
    """Reads the settings of a file, or checks a `text` that it will have; those that are left out have their defaults.

    UserError, which names the file and the line, if one is wrong; OSError if the file cannot be read.
    """
    try:
        return parse_settings(read_text(path) if text is None else text)
    except ValueError as error:  # includes errors of UTF-8 and TOML
        raise UserError(f"{path}{error}" if str(error).startswith(",") else f"{path}: {error}") from error


def parse_settings(text: str) -> RunSettings:
    """Reads the settings of a TOML text; those that it leaves out have their defaults.

    Raises:
        UserError: A setting is wrong. The message begins with `, line N: ` if the line is known, to follow a name.
    """
    tables = parse_toml(text)
    version = tables.pop("version", VERSION)
    if version != VERSION:
        raise UserError(
            f"{_line(text, '', 'version')}settings of version {version!r}; this program reads version {VERSION}. Start "
            "a new run from this one's network with --from, or resume with the program that made it"
        )
    known, own = [item.name for item in fields(RunSettings)], sections_of("learn" if "records" in tables else "train")
    parts = {}
    for name, table in tables.items():
        where = _line(text, "", name)
        if name not in known:
            if isinstance(table, dict):
                raise UserError(f"{where}{unknown('section', name, known)}")
            raise UserError(f"{where}{unknown('setting', name, known, where=' outside of the sections')}")
        if not isinstance(table, dict):
            raise UserError(f"{where}{name} is a section: expected [{name}] and its settings below, got {table!r}")
        if name not in own:
            raise UserError(f"{where}[{name}] is for runs by self-play, [records] for others: leave one of them out")
        kind = type(getattr(RunSettings(), name))
        parts[name] = kind(**_checked(text, name, kind, table))
    settings = RunSettings(**parts)
    if "records" in tables and not settings.records.has_source:
        raise UserError(f"{_line(text, '', 'records')}[records] names nothing to learn: no games, teacher or labels")
    return settings


def _checked(text: str, section: str, kind: type, table: Mapping[str, Any]) -> dict[str, Any]:
    known = settings_of(kind)
    values = {}
    for name, value in table.items():
        where = _line(text, section, name)
        if name not in known:
            raise UserError(f"{where}{unknown('setting', name, known, where=f' in [{section}]')}")
        accepts = known[name].metadata["accepts"]
        if isinstance(accepts, Range) and accepts.whole and isinstance(value, float):
            raise UserError(f"{where}{invalid(name, value, str(accepts))}")
        try:
            values[name] = accepted(known[name], value)
        except UserError as error:
            raise UserError(f"{where}{error}") from error
    return values


def _line(text: str, section: str, name: str) -> str:
    """Returns `, line N: ` for a setting, or for a section's header if `section` is empty; "" if it is not found.

    A setting that is a table may have its own header, as in `[search.parameters]`.
    """
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[\s*([^\]\s]+)\s*\]", line)
        if head:
            inside = head[1]
            if inside == (f"{section}.{name}" if section else name):
                return f", line {number}: "
        elif inside == section and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[.=]", line):
            return f", line {number}: "
    return ""
