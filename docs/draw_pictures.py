"""Draws the documentation's pictures of a game in the terminal: `python docs/draw_pictures.py`.

The engine plays the position itself, so that a change of the display needs only another run.
"""

import io
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from gtp_engine import BLACK, WHITE, Engine, EngineSettings
from gtp_engine.clients.terminal.board import (
    board_view,
    candidate_marks,
    candidate_table,
    lead_in_words,
    side_lines,
    territory_marks,
)

FOLDER = Path(__file__).parent / "pictures"
MOVES = 24
SETTINGS = EngineSettings("none", visits=10_000, threads=1, seed=7)
NAMES = {BLACK: "you", WHITE: "engine"}


def main() -> None:
    """Plays the opening of a game on 9x9 and draws an analysis and an estimate of the score."""
    with Engine(SETTINGS, width=9) as engine:
        for _ in range(MOVES):
            engine.best_move()
        report = engine.evaluate()
        game = engine.game
    console = Console(width=76, color_system="truecolor", force_terminal=True, record=True, file=io.StringIO())
    side = side_lines(game, NAMES, len(game.moves))
    prompt = Text("black> ")
    analysis = board_view(game, console, candidate_marks(report), side)
    draw("analysis.svg", console, prompt + Text("analyze\n"), analysis, candidate_table(report, console.width), prompt)
    score = board_view(game, console, territory_marks(game, report), side)
    lead = Text(f"{lead_in_words(report.to_move, report.lead)} (including komi)")
    draw("score.svg", console, prompt + Text("score\n"), score, lead, prompt)


def draw(name: str, console: Console, *parts: RenderableType) -> None:
    """Prints the parts on the console and saves the result as a picture."""
    for part in parts:
        console.print(part)
    console.save_svg(str(FOLDER / name), title="gtp_engine play")


if __name__ == "__main__":
    main()
