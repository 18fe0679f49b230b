"""The report of runs, a page for the browser: what they reached, their settings, curves, a game and the log."""

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..base.errors import UserError
from ..base.files import files_with, write_text
from ..base.messages import plural
from ..base.settings import settings_of
from ..base.web_page import templates, web_page
from ..go.coords import PASS
from ..go.drawing import SVG_STYLE
from ..go.game import Game
from ..go.sgf import read_sgf_games, shown_result
from .data.game_records import is_held
from .data.samples import unpack_moves
from .data.shards import read_shard, shard_files
from .log import log_table, summary
from .new_run import RECORDS
from .plots import COLOURS, calibration, curves
from .run_folder import RunFolder
from .run_settings import RunSettings, sections_of
from .settings_toml import to_toml, toml_value

_ROWS = 40  # of the log: the first and the last ones of a longer log
_BOARDS = 3  # that show a third of the game each
_NUMBERED = 99  # larger numbers do not fit on a stone


def write_report(folders: Sequence[RunFolder], path: Path) -> None:
    """Draws the logs of runs, finished or under way, into the same plots and writes them to an HTML file.

    Raises:
        UserError: A folder contains no run, or a log contains nothing to draw.
    """
    folders = list({folder.path: folder for folder in folders}.values())
    for folder in folders:
        if not folder.exists:
            raise UserError(f"{folder.path}: there is no run in this folder")
        if not folder.log():
            raise UserError(f"{folder.path}: nothing to report yet: {summary(folder)}")
    runs = {str(folder.path): folder.log() for folder in folders}
    settings = {str(folder.path): folder.settings() for folder in folders}
    title = "Training: " + ", ".join(folder.path.name for folder in folders)
    shown = [
        {
            "name": name,
            "colour": colour,
            "summary": summary(folder),
            "game": _held_back_game(folder) if settings[name].command == "learn" else _newest_game(folder),
            "log": table_of_log(runs[name]),
            "settings": to_toml(settings[name]),
        }
        for folder, name, colour in zip(folders, runs, itertools.cycle(COLOURS), strict=False)
    ]
    plots = {"differing": differing_settings(settings), "curves": curves(runs), "calibration": calibration(runs)}
    body = templates(__package__).get_template("report.html").render(plots, title=title, runs=shown)
    style = (files(__package__) / "report.css").read_text("utf-8")
    write_text(path, web_page(title, body, style=style, style_attributes=[SVG_STYLE]))


Table: TypeAlias = tuple[list[str], list[list[str]]]
"""The titles of its columns, and its rows."""
Boards: TypeAlias = tuple[str, list[tuple[str, str]]]
"""What a game is, and its boards with their captions."""


def _boards(caption: str, game: Game) -> Boards:
    """Returns boards after each third of a game, with what the game is; it is taken back on the way."""
    moves = list(game.moves)
    ends = sorted({round(len(moves) * (part + 1) / _BOARDS) for part in range(_BOARDS)} - {0})
    figures: list[tuple[str, str]] = []
    for first, last in reversed([*zip([0, *ends], ends, strict=False)]):
        while len(game.moves) > last:
            game.undo()
        numbered = [*enumerate(moves[first:last], first + 1)][: max(0, _NUMBERED - first)]
        numbers = {move.point: number for number, move in numbered if move.point != PASS}
        unseen = [f"{number} {game.vertex(move)}" for number, move in numbered if numbers.get(move.point) != number]
        shown = "; ".join(filter(None, [f"moves {first + 1} to {last}", ", ".join(unseen)]))
        board = game.to_svg(labels={point: str(number) for point, number in numbers.items()}, pixels=300)
        figures.insert(0, (board, shown))
    return caption, figures


def _newest_game(folder: RunFolder) -> Boards | None:
    """Returns the boards of the last game of the newest collection that can be read; None if there is none."""
    for path in reversed(files_with((".sgf",), folder.records)):
        with suppress(OSError, UserError):
            for record in reversed([game for game in read_sgf_games(path) if game.moves]):
                about = f"{plural(len(record.moves), 'move')}, komi {record.komi:g}, {shown_result(record.result)}"
                return _boards(f"The newest game: {record.black} against itself, {about}.", record.to_game())
    return None


def _held_back_game(folder: RunFolder) -> Boards | None:
    """Returns the boards of the first game that is held back, of the first shard that has one."""
    for path in shard_files(folder.games):
        with suppress(OSError, UserError):  # also if a record's rules allow a suicide that the usual ones forbid
            games = read_shard(path)
            for place in np.flatnonzero(is_held(games.games["number"])).tolist():
                game = games.begin(place)
                for move in unpack_moves(games.moves_of(place), game.width, game.height):
                    game.play(*move)
                about = f"{plural(len(game.moves), 'move')}, komi {games.games['komi'][place]:g}"
                return _boards(f"A game of the records that is held back: {about}.", game)
    return None


def differing_settings(runs: Mapping[str, RunSettings]) -> Table:
    """Returns a table of the settings in which runs differ, or those of a single run that are not the defaults."""
    columns = [(name, _values(settings, settings.command)) for name, settings in runs.items()]
    if len(runs) == 1:
        command = next(iter(runs.values())).command
        columns.insert(0, ("default", _values(RECORDS if command == "learn" else RunSettings(), command)))
    rows = []
    for setting in dict.fromkeys(setting for _, known in columns for setting in known):
        row = [known.get(setting, "") for _, known in columns]
        if len(set(row)) > 1:
            rows.append([setting, *row])
    return ["setting", *(name for name, _ in columns)], rows


def _values(settings: RunSettings, command: str) -> dict[str, str]:
    """Returns the settings of a command's runs as they are written in TOML, by `section.name`."""
    sections = {name: getattr(settings, name) for name in sections_of(command)}
    return {
        f"{section}.{name}": toml_value(getattr(values, name)).as_string()
        for section, values in sections.items()
        for name in settings_of(values, command)
    }


def table_of_log(lines: Sequence[Mapping[str, Any]]) -> Table:
    """Returns the lines of a log as a table, without columns that are empty."""
    chosen = list(lines) if len(lines) <= _ROWS else [*lines[: _ROWS // 2], *lines[-_ROWS // 2 :]]
    titles, rows = log_table(chosen, report=True)
    if len(chosen) < len(lines):
        rows.insert(_ROWS // 2, ["..."] * len(titles))
    return titles, rows
