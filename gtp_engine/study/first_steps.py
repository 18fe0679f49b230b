"""First steps for somebody who has never played: boards with tasks, games that the first capture ends, a whole game.

What there is to learn is in one file (`first_steps.toml`), which a teacher may replace. Whether a task is solved, or
can still be solved, is decided by the rules of the game alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import UserError, error_text
from ..base.files import read_text
from ..base.languages.texts import DEFAULT, LANGUAGES
from ..base.nesting import parse_toml
from ..go.coords import BLACK, PASS, WHITE, as_colour, index_of_point, point_at
from ..go.game import Game
from ..go.life import proven_owners
from ..go.regions import chain_at
from ..table.played_game import check_move

_FILE = "first_steps.toml"
CAPTURE, LIVE, WIN, FIRST_CAPTURE, GAME = "capture", "live", "win", "first capture", "game"
_GOALS = "capture C3, live B2, win, first capture or game"
_ALWAYS = ("title", "text", "task")  # texts that every step has,
_TASK = ("right", "wrong")  # that those have which the learner may fail,
REFUSED = "refused"  # and that those may have in which moves are forbidden
_KEYS = {"goal", "board", "moves", "before", "answers", "labels", *LANGUAGES}


@dataclass(frozen=True)
class Step:
    """One step. The learner is Black."""

    goal: str  # CAPTURE, LIVE, WIN, FIRST_CAPTURE or GAME
    point: int  # that CAPTURE and LIVE are about
    start: Game  # the position, with the learner to move
    moves: int  # of the learner that solve the task
    answers: tuple[int, ...]  # of White: the first that is legal
    labels: Mapping[int, str]
    texts: Mapping[str, Mapping[str, str]]  # by language; in English what a language does not have

    @property
    def is_task(self) -> bool:
        """Whether it is a board with a task, and no game."""
        return self.goal not in (FIRST_CAPTURE, GAME)

    def target(self, game: Game) -> frozenset[int]:
        """Returns the stones that the task is about, as long as they are on the board."""
        chain = chain_at(game.board[0], self.point) if self.goal in (CAPTURE, LIVE) else None
        return frozenset() if chain is None else chain.stones

    def is_reached(self, game: Game) -> bool:
        """Whether the task is solved in a position."""
        if self.goal == CAPTURE:
            return game.stone_at(self.point) != WHITE
        if self.goal == LIVE:
            return bool(proven_owners(game).flat[index_of_point(self.point, game.width, game.height)] == BLACK)
        return game.is_over and game.score().winner == BLACK

    def answer(self, game: Game) -> None:
        """Plays White's answer in a game in which White is to move."""
        game.play(WHITE, next((point for point in self.answers if game.is_legal(point)), PASS))

    def solution(self, game: Game, moves: int) -> int | None:
        """Returns a move with which the learner, to move, solves the task in so many moves; None if there is none."""
        points = [int(point) for point in game.board[0]["empties"][: game.board[0]["empty_count"]]]
        for point in [PASS, *points] if self.goal == WIN else [*points, PASS]:
            if game.is_legal(point) and self.is_solvable(game.after(BLACK, point), moves - 1):
                return point
        return None

    def is_solvable(self, game: Game, moves: int) -> bool:
        """Whether the learner, who has just moved, has solved the task, or can with so many moves more."""
        if self.is_reached(game):
            return True
        if game.is_over or not moves:
            return False
        game = game.copy()
        self.answer(game)
        return self.is_reached(game) or (not game.is_over and self.solution(game, moves) is not None)


def read_steps(path: Path | None = None) -> tuple[Step, ...]:
    """Reads the steps of a file, by default of the program's own; raises UserError if it is unusable, in one line."""
    name = path or _FILE
    try:
        text = files(__package__).joinpath(_FILE).read_text("utf-8") if path is None else read_text(path)
        found = parse_toml(text)
    except (OSError, ValueError) as error:
        raise UserError(f"first steps: {name} cannot be read: {error_text(error)}") from None
    tables = found.pop("step", None)
    if found or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables) or not tables:
        raise UserError(f"first steps: {name} is to hold steps and nothing else: each begins with [[step]]")
    steps = []
    for number, table in enumerate(tables, 1):
        try:
            step = _read_step(table)
            if path is not None and step.is_task:
                _check_task(step)
        except UserError as error:
            raise UserError(f"first steps: {name}, step {number}: {error}") from None
        steps.append(step)
    return tuple(steps)


def _check_task(step: Step) -> None:
    """Raises UserError unless a task has a solution, and is not solved before the first move."""
    if step.is_reached(step.start):
        raise UserError("the task is solved before the first move")
    if step.solution(step.start, step.moves) is None:
        raise UserError(f"no {'move solves' if step.moves == 1 else 'two moves solve'} the task")


def _read_step(table: Mapping[str, Any]) -> Step:
    """Returns the step of a table; raises UserError if something is missing, unknown or illegal."""
    if unknown := sorted(set(table) - _KEYS):
        names = ", ".join(sorted(_KEYS - set(LANGUAGES)))
        raise UserError(f"unknown {unknown[0]!r} (known: {names}; languages: {', '.join(LANGUAGES)})")
    goal, vertex = _text(table, "goal", f"no task: it needs a goal, such as {_GOALS}"), ""
    if goal not in (WIN, FIRST_CAPTURE, GAME):
        goal, _, vertex = goal.partition(" ")
        if goal not in (CAPTURE, LIVE) or not vertex:
            raise UserError(f"unknown goal {table['goal']!r}: expected {_GOALS}")
    game = _read_board(_text(table, "board", "no board"))
    for move in _texts(table, "before"):
        colour, _, point = move.partition(" ")
        game.to_move = as_colour(colour)
        check_move(game, game.point(point))
        game.play(colour, point)
    game.to_move = BLACK
    target = game.point(vertex) if vertex else PASS
    if vertex and game.stone_at(target) != (WHITE if goal == CAPTURE else BLACK):
        raise UserError(f"goal {table['goal']!r}: no {'white' if goal == CAPTURE else 'black'} stone there")
    labels = table.get("labels", {})
    if not isinstance(labels, dict) or table.get("moves", 1) not in (1, 2):
        raise UserError('expected 1 or 2 moves, and labels such as {A = "C4"}')
    return Step(
        goal,
        target,
        game,
        table.get("moves", 1),
        tuple(map(game.point, _texts(table, "answers"))),
        {game.point(place): text for text, place in labels.items()},
        _read_texts(table, _ALWAYS if goal == GAME else _ALWAYS + _TASK),
    )


def _text(table: Mapping[str, Any], key: str, problem: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UserError(problem)
    return " ".join(value.split()) if key == "goal" else value


def _texts(table: Mapping[str, Any], key: str) -> Sequence[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UserError(f"{key}: expected a list of texts")
    return value


def _read_board(text: str) -> Game:
    """Returns the position that rows of points show; raises UserError if it is none, or illegal."""
    rows = [row for line in text.splitlines() if (row := "".join(line.split()))]
    if len({*map(len, rows)}) != 1 or set("".join(rows)) - set("XO."):
        raise UserError("board: expected rows of equal length, of X, O and .")
    game = Game(len(rows[0]), len(rows), komi=0)
    stones: dict[str, list[int]] = {"X": [], "O": [], ".": []}
    for y, x in np.ndindex(len(rows), len(rows[0])):
        stones[rows[y][x]].append(point_at(x, y, len(rows[0])))
    game.set_up(stones["X"], stones["O"])
    return game


def _read_texts(table: Mapping[str, Any], needed: Sequence[str]) -> dict[str, dict[str, str]]:
    """Returns the texts by language; those that a language does not have are the English ones."""
    found: dict[str, dict[str, str]] = {}
    for language in LANGUAGES:
        texts = table.get(language, {})
        known = [*needed, REFUSED]
        if not isinstance(texts, dict):
            raise UserError(f"expected a table [step.{language}]")
        for key, text in texts.items():
            if key not in known or not isinstance(text, str):
                raise UserError(f"[step.{language}], {key}: expected texts named {', '.join(known)}")
        found[language] = {**found.get(DEFAULT, {}), **{key: text.strip() for key, text in texts.items()}}
        if missing := [key for key in needed if not found[language].get(key)]:
            raise UserError(f"[step.{language}] has no {missing[0]}")
    return found
