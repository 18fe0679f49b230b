"""The page of the report, put together from its parts."""

import itertools
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ...base.errors import UserError
from ...base.files import write_text
from ...base.web_page import web_page
from ..run_folder import RunFolder
from ..settings_toml import to_toml
from ..summary import summary
from .curves import COLOURS, curves
from .sample_game import sample_game
from .tables import differing_settings, table_of_log

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1500px;margin:2em auto;padding:0 1.5em}
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{padding:.15em .8em;text-align:right;border-bottom:1px solid #8884}
td.text,th.text{text-align:left;font-family:ui-monospace,monospace;font-size:.9em}
.wide{overflow-x:auto}
.swatch{display:inline-block;width:.9em;height:.9em;border-radius:.2em;margin-right:.5em;vertical-align:-.1em}
.axes input{margin-left:1em}
.curves{display:none;grid-template-columns:repeat(auto-fill,minmax(400px,1fr));gap:1.2em}
figure{margin:0}.curves figcaption{font-weight:600}
.curves svg{width:100%;height:auto;display:block}
.boards{display:flex;flex-wrap:wrap;gap:1.2em}.boards figure{width:300px}.boards+.wide{margin:1em 0}
pre{white-space:pre-wrap}
"""


def write_report(folders: Sequence[RunFolder], path: Path) -> None:
    """Draws the logs of runs into the same plots and writes them to an HTML file.

    Args:
        folders: The runs, finished or under way; repeated ones are drawn once.
        path: The file to write.

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
    parts = [f"<h1>{escape(_title(runs))}</h1>", *map(_headline, folders, _swatches(len(folders)))]
    parts += [differing_settings(settings), curves(runs)]
    for folder, swatch in zip(folders, _swatches(len(folders)), strict=True):
        name = str(folder.path)
        parts += [f"<h2>{swatch}{escape(name)}</h2>", sample_game(folder), table_of_log(runs[name])]
        parts.append(f"<details><summary>All settings</summary><pre>{escape(to_toml(settings[name]))}</pre></details>")
    # matplotlib and the legend's squares use style attributes.
    write_text(path, web_page(_title(runs), "\n".join(filter(None, parts)), style=_STYLE, style_attributes=None))


def _title(names: "Sequence[str] | dict[str, list[dict[str, object]]]") -> str:
    return "Training: " + ", ".join(Path(name).name for name in names)


def _swatches(count: int) -> list[str]:
    """Returns a square in the colour of each run; nothing if there is only one."""
    colours = itertools.islice(itertools.cycle(COLOURS), count)
    return [f'<span class="swatch" style="background:{colour}"></span>' if count > 1 else "" for colour in colours]


def _headline(folder: RunFolder, swatch: str) -> str:
    return f"<p>{swatch}<b>{escape(str(folder.path))}</b>: {escape(summary(folder))}.</p>"
