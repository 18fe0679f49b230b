"""Fills in the generated parts of the documentation: `python docs/generate_reference.py`.

A generated part stands between two comments of a page, `<!-- generated: NAME -->` and `<!-- end -->`; everything else
is written by hand. `--check` changes nothing and exits with status 1 if a page is out of date.
"""

import argparse
import dataclasses
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

import gtp_engine.clients.gtp.program_commands  # noqa: F401  (which registers the commands)
from gtp_engine.base.fields import Flag, Words
from gtp_engine.base.settings import UNLIMITED, meanings, settings_of
from gtp_engine.clients.cli import COMMANDS as PROGRAM_COMMANDS
from gtp_engine.clients.cli import main as program
from gtp_engine.clients.cli.command import Command
from gtp_engine.clients.cli.defaults import COMMON_SETTINGS
from gtp_engine.clients.cli.options import variable
from gtp_engine.clients.gtp.session import COMMANDS as GTP_COMMANDS
from gtp_engine.go.rules import RULESETS, Rules
from gtp_engine.search.parameters import SearchParameters, default_parameters
from gtp_engine.training.run_settings import RunSettings, SearchSettings

DOCS = Path(__file__).parent
_SHARED = 3  # as many commands make an option a shared one; with two, both list it
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    """Writes the pages, or checks them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a page is out of date")
    check = parser.parse_args().check
    outdated = outdated_pages()
    for page, text in outdated.items():
        print(f"{page.name}: {'out of date' if check else 'written'}")
        if not check:
            page.write_text(text, encoding="utf-8")
    sys.exit(1 if check and outdated else 0)


def outdated_pages() -> dict[Path, str]:
    """Returns the pages whose generated parts differ from the code, with the text that they should have."""
    found = {}
    for page in sorted(DOCS.glob("*.md")):
        old = page.read_text(encoding="utf-8")
        new = PART.sub(lambda part: f"{part[1]}\n{GENERATORS[part[2]]()}\n\n{part[3]}", old)
        if new != old:
            found[page] = new
    return found


def search_parameters() -> str:
    """Returns a table of the search parameters, in the order of the class."""
    rollouts, network = SearchParameters(), default_parameters("a network's file")
    _, self_play = SearchSettings().full(cycle=0)
    rows = []
    for name, item in settings_of(SearchParameters).items():
        katago = item.metadata.get("katago")
        defaults = [code(plain(getattr(parameters, name))) for parameters in (network, rollouts, self_play)]
        rows.append(
            [
                code(name),
                code(katago or ""),
                *defaults,
                accepted(SearchParameters, name),
                meanings(SearchParameters)[name],
            ]
        )
    heads = ["parameter", "KataGo's name", "with a network", "without", "in self-play", "accepts", "meaning"]
    return table(heads, rows)


def rulesets() -> str:
    """Returns a table of the rulesets; those with equal rules share a row."""
    names: dict[Rules, list[str]] = {}
    for name, rules in RULESETS.items():
        names.setdefault(rules, []).append(code(name))
    rows = []
    for rules, equal in names.items():
        ko = "simple" if rules.ko == "SIMPLE" else f"{rules.ko.lower()} superko"
        tax = {"NONE": "none", "SEKI": "in seki", "ALL": "all groups"}[rules.tax]
        other = ["all stones stand at the end"] if rules.stones_stand else []
        if rules.white_handicap_bonus != "0":
            other.append(f"{rules.white_handicap_bonus} points for N handicap stones")
        if rules.has_button:
            other.append("a button: the first pass is worth half a point")
        suicide = "allowed" if rules.suicide else "no"
        rows.append([", ".join(equal), ko, rules.scoring.lower(), tax, suicide, "; ".join(other)])
    return table(["name", "ko", "scoring", "tax", "suicide", "other"], rows)


def gtp_commands() -> str:
    """Returns a list of the GTP commands with docstrings, and the names of the others, which other programs define."""
    rows, plain_names = [], []
    first = {handler: name for name, handler in reversed(GTP_COMMANDS.items())}
    for name, handler in GTP_COMMANDS.items():
        if name != first[handler]:
            rows.append(f"- {code(name)}: The same as {code(first[handler])}.")
        elif text := summary(handler):
            rows.append(f"- {code(name)}: {text}")
        else:
            plain_names.append(code(name))
    listed = "\n".join(textwrap.wrap(", ".join(plain_names) + ".", 130, break_on_hyphens=False))
    others = "The others are as in GTP, Leela Zero, KataGo, KGS, CGOS and GoGui:"
    return "\n".join([*rows, "", others, listed])


def run_settings() -> str:
    """Returns a list of settings for each section of `settings.toml`: default, and the beginning of what it means."""
    defaults = RunSettings()
    parts, sections = [], dict[tuple[str, str], str]()
    for section in dataclasses.fields(RunSettings):
        values = getattr(defaults, section.name)
        rows = []
        for name in settings_of(values):
            meaning = meanings(type(values))[name]
            first = sections.setdefault((name, meaning), section.name)
            about = beginning(meaning, settings_of(values)[name].metadata["accepts"])
            about = about if first == section.name else f"As in [{first}]"
            default = code(plain(getattr(values, name)) or '""')
            rows.append(f"- {code(name)} ({default}): {about}.")
        parts.append("\n".join([f"### [{section.name}]\n\n{summary(type(values))}\n", *rows]))
    return "\n\n".join(parts)


def program_options() -> str:
    """Returns a table of the options that several commands share, and one of the commands with the names of theirs."""
    rows = []
    found: dict[str, list[tuple[str, str]]] = {}
    for name in PROGRAM_COMMANDS:
        context = click.Context(program, info_name="gtp_engine", **program.context_settings)
        command = program.get_command(context, name)
        assert isinstance(command, Command)
        own = click.Context(command, info_name=name, parent=context, **command.context_settings)
        usage = " ".join(["gtp_engine", name, *command.collect_usage_pieces(own)])
        rows.append([code(usage)])
        found[name] = [record for records in command.sections(own).values() for record in records]
    owners: dict[tuple[str, str], list[str]] = {}
    for name, records in found.items():
        for record in records:
            owners.setdefault(_without_default(record), []).append(name)
    shared = {record: names for record, names in owners.items() if len(names) >= _SHARED}
    for row, (name, records) in zip(rows, found.items(), strict=True):
        own_options = [code(record[0]) for record in records if _without_default(record) not in shared]
        row += [", ".join(own_options), PROGRAM_COMMANDS[name]]
    common = [
        [code(names), "all" if len(commands) == len(found) else ", ".join(commands), text]
        for (names, text), commands in shared.items()
    ]
    return "\n\n".join(
        [table(["option", "commands", "meaning"], common), table(["command", "its own options", "what it does"], rows)]
    )


def _without_default(record: tuple[str, str]) -> tuple[str, str]:
    """Returns the names and the meaning of an option without its default, which depends on the command."""
    names, text = record
    return names, text.partition("  [")[0]


def common_settings() -> str:
    """Returns a table of the settings that all commands share, with their environment variables."""
    context = click.Context(program, info_name="gtp_engine")
    commands = [program.get_command(context, name) for name in ("review", "gtp")]  # which have all of them between them
    params = [param for command in commands if command is not None for param in command.params]
    options = {param.envvar: param for param in params if isinstance(param, click.Option)}
    meanings = {name: options[variable(name)].help or "" for name in COMMON_SETTINGS}
    rows = [[code(name), code(variable(name)), text] for name, text in meanings.items()]
    return table(["setting", "environment variable", "meaning"], rows)


GENERATORS: dict[str, Callable[[], str]] = {
    "search_parameters": search_parameters,
    "rulesets": rulesets,
    "gtp_commands": gtp_commands,
    "run_settings": run_settings,
    "program_options": program_options,
    "common_settings": common_settings,
}


def summary(member: Any) -> str:
    """Returns the first paragraph of a docstring on one line."""
    return " ".join((member.__doc__ or "").strip().partition("\n\n")[0].split())


def beginning(meaning: str, accepts: Any) -> str:
    """Returns the beginning of what a setting means, with the values that it has to choose from."""
    sentence = meaning.split(". ")[0].rstrip(".")
    if not isinstance(accepts, Words):
        return sentence.split("; ")[0]
    if all(word in sentence for word in accepts.words):
        return sentence
    return f"{sentence}: {', '.join(code(word) for word in accepts.words)}"


def accepted(section: Any, name: str) -> str:
    """Returns what a setting accepts, by its range or its list of values."""
    accepts = settings_of(section)[name].metadata["accepts"]
    if isinstance(accepts, Words):
        return ", ".join(code(value) for value in accepts.words)
    values = getattr(accepts, "values", accepts)
    low, high = getattr(values, "low", None), getattr(values, "high", None)
    if high is not None and high < UNLIMITED:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"{low:g} or more"
    return "`true`, `false`" if isinstance(accepts, Flag) else ""


def plain(value: object) -> str:
    """Returns a value as it is written in a settings file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {plain(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e5 else str(value)


def code(text: str) -> str:
    """Returns the text in Markdown's code form, or nothing for no text."""
    return f"`{text}`" if text else ""


def table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    main()
