"""What the pages see of a session: the state as one JSON object, with the board as the drawing that files have too."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..game.coords import BLACK, PASS, WHITE, colour_name, opponent
from ..game.drawing import BoardDrawing, Candidate
from ..game.game import Game
from ..game.rules import rules_name
from ..game.scoring import area_map
from ..languages.texts import Phrase
from ..play.initial_game import usual_komi
from ..play.loading import HUMAN
from ..play.settings import DEFAULT_SECONDS
from ..search.report import SearchReport
from ..sgf import TreeNode, read_result
from .networks import chosen_network

if TYPE_CHECKING:
    from .session import Session

_PIXELS = 1000  # the drawing's own size, which the page's style replaces
_LISTED = 9  # candidates
_PRIORS, _LEAST_PRIOR = 40, 0.005  # drawn at most, and from which on
_PRIOR_COLOUR = (120, 130, 235)  # of a certain move: red, green, blue


def state_of(session: "Session") -> dict[str, Any]:
    """Returns everything that a page shows."""
    played, engine = session.played, session.played.engine
    game, settings, line = session.position(), played.engine.settings, session.line
    timed = settings.visits is None and settings.seconds is None
    return {
        "type": "state",
        "board": board_of(session),
        "width": game.width,
        "height": game.height,
        "node": session.node.number,
        "tree": session.tree_version,
        "moves": len(line) - 1,
        "place": line.index(session.node),
        "moveNumbers": [sum(node.move is not None for node in nodes) for nodes in (session.node.path, line)],
        "variation": _variation_of(session),
        "lastMove": _last_move(game),
        "toMove": colour_name(game.to_move),
        "names": _names(session),
        "recordedResult": _result_in_parts(played.saved.result if played.saved else None),
        "comment": session.node.comment,
        "isStudy": played.is_study,
        "isRecord": played.is_record,
        "guess": session.guessing.state(),
        "review": session.reviewing.state(),
        "clock": _clock_of(session),
        "humans": [colour_name(colour) for colour in sorted(played.humans)],
        "isYourTurn": session.is_latest and played.result is None and not game.is_over and played.is_humans_turn,
        "canUndo": played.can_undo and (session.is_latest or played.annotation_to_undo is not None),
        "isOver": played.result is not None,
        "isCounted": session.is_latest and played.is_counted,
        "captures": {colour_name(colour): game.captures(colour) for colour in (BLACK, WHITE)},
        "komi": game.komi,
        "isUsualKomi": game.komi == usual_komi(game.width, game.height, played.handicap),
        "rules": rules_name(game.rules) or "other",
        "handicap": played.handicap,
        "rank": "max" if settings.rank is None else str(settings.rank),
        "rankNotes": [] if played.is_study else [phrase_in_parts(note) for note in engine.rank_notes],
        "seconds": DEFAULT_SECONDS if timed else settings.seconds,
        "visits": settings.visits,
        "engine": engine.name,
        "isReady": session.is_ready,
        "task": session.task and {"kind": session.task.kind, "seconds": time.monotonic() - session.task.started},
        "result": _result_in_parts(played.result),
        "dead": sorted(game.vertex(point) for point in played.dead),
        "stones": _stones_in_rows(game),
        "report": _report_of(session),
        "layer": session.searches.layer,
        "analysisVisits": session.searches.analysis_visits,
        "curve": session.values.curve(line),
        "network": chosen_network(settings.network),
        "networks": list(session.games.networks),
        "isTeaching": session.searches.is_teaching,
        "loss": _loss_of(session),
        "opinion": _opinion_of(session),
        "file": played.file.path.name if played.file.path else None,
        "notice": session.notice,
        "problem": session.problem or played.file.error or session.reviewing.problem,
    }


def board_of(session: "Session", line: Sequence[int] = ()) -> str:
    """Returns the drawing of the position.

    Args:
        session: The session, which says what else is drawn: candidates, territory, dead stones.
        line: Points to play on from there, as numbered stones.
    """
    game, report = session.position(), session.report
    if line:
        return board_with_line(game, line)
    marks = session.played.tree.marks(session.node)
    labels = marks.labels | _losses(session, game)
    options: dict[str, Any] = {"pixels": _PIXELS, "labels": labels, "marks": marks.shapes}
    if session.played.is_counted and session.is_latest and report is None:
        owners = area_map(game, session.played.dead)
        return game.to_svg(**options, ownership=(owners == BLACK) * 1.0 - (owners == WHITE) * 1.0)
    if report is None or not session.shown:
        return game.to_svg(**options, candidates=session.reviewing.better_move(session.node))
    layer = {"score": "ownership", "hint": "hint"}.get(session.shown, session.searches.layer)
    if layer == "ownership":
        return report.to_svg(**options, candidates=())
    candidates = {"hint": report.candidates()[:1], "policy": _priors(report)}.get(layer, report.candidates())
    return report.to_svg(**options, ownership=None, candidates=candidates)


def _losses(session: "Session", game: Game) -> dict[int, str]:
    """Returns the points that are drawn on a stone: those that a person's last move, or a mistake, has lost."""
    mistake, loss = session.reviewing.mistake_at(session.node), session.loss()
    found = [(loss.point, loss.points)] if loss else []
    found += [(mistake.worst.move.point, mistake.worst.points_loss)] if mistake else []
    return {point: f"{points:.0f}" for point, points in found if point != PASS and game.stone_at(point)}


def _result_in_parts(text: str | None) -> dict[str, Any] | None:
    """Returns the winner and the reason: {"winner": "black", "by": "points", "points": 3.5}; None without a result.

    One that cannot be read is by "other", with its `text`.
    """
    if not text:
        return None
    result = read_result(text)
    if result is None:
        return {"winner": None, "by": "other", "points": 0.0, "text": text}
    winner = None if result.winner is None else colour_name(result.winner)
    return {"winner": winner, "by": result.by, "points": float(result.points or 0)}


def phrase_in_parts(phrase: Phrase) -> dict[str, Any]:
    """Returns a phrase as the page's `text` takes it, to be said in the page's language."""
    values = {
        key: phrase_in_parts(value) if isinstance(value, Phrase) else value for key, value in phrase.values.items()
    }
    return {"name": phrase.name, "values": values}


def _variation_of(session: "Session") -> dict[str, int]:
    siblings, place, _ = session.played.tree.branching(session.node)
    return {"number": place + 1, "of": len(siblings)}


def _clock_of(session: "Session") -> dict[str, Any]:
    """Returns the clocks; what is left of each is seconds and count as in GTP's `time_left`."""
    clock = session.played.clock
    return {
        "running": colour_name(clock.running) if clock.running else None,
        "system": clock.settings.system,
        "main": clock.settings.main,
        "increment": clock.settings.increment,
        "period": clock.settings.period,
        "periods": clock.settings.count,
        "used": {colour_name(colour): clock.used(colour) for colour in (BLACK, WHITE)},
        "left": {colour_name(colour): clock.left(colour) for colour in (BLACK, WHITE)},
    }


def tree_of(session: "Session") -> dict[str, Any]:
    """Returns the tree of the game: for each node its number, its parent's, what it is, whether it has a comment."""
    return {
        "type": "tree",
        "version": session.tree_version,
        "nodes": [
            [node.number, node.parent.number if node.parent else -1, _kind(node), bool(node.comment)]
            for node in session.played.tree
        ],
    }


def _kind(node: TreeNode) -> str:
    if node.move is not None:
        return colour_name(node.move.colour)
    return "setup" if node.has_setup else "other"


def _loss_of(session: "Session") -> dict[str, Any] | None:
    loss, game = session.loss(), session.position()
    if loss is None:
        return None
    can_undo = session.is_latest and session.played.takes_back(session.last_own_move)
    return {"move": game.vertex(loss.point), "points": round(loss.points, 1), "best": loss.best, "canUndo": can_undo}


def _names(session: "Session") -> dict[str, str]:
    """Returns the names of the people in a record that is continued; without those that have none."""
    saved = session.played.saved
    players = {} if saved is None else saved.players
    return {colour_name(colour): name for colour, name in players.items() if name and name != HUMAN}


def _priors(report: SearchReport) -> list[Candidate]:
    """Returns the priors as discs, darker the larger they are, with their percentages."""
    discs = []
    for vertex, prior in report.policy.top(_PRIORS):
        if prior < _LEAST_PRIOR:
            break
        share = prior**0.5  # so that small ones differ too
        colour = "#" + "".join(f"{round(255 + share * (full - 255)):02x}" for full in _PRIOR_COLOUR)
        discs.append(Candidate(vertex, colour, (f"{100 * prior:.0f}",)))
    return discs


def board_with_line(game: Game, line: Sequence[int]) -> str:
    """Returns the drawing of a position with a line from there on, as numbered stones."""
    after, labels = game.copy(), dict[int, str]()
    for number, point in enumerate(line, 1):
        after.play(after.to_move, point)
        if point != PASS:
            labels.setdefault(point, str(number))
    return BoardDrawing(after.stones(), labels=labels, pixels=_PIXELS).to_svg()


def _stones_in_rows(game: Game) -> list[str]:
    """Returns the rows of the board from the top, with ".", "X" for Black and "O" for White."""
    letters = np.array([".", "X", "O"])
    return ["".join(letters[row]) for row in game.stones()]


def _last_move(game: Game) -> dict[str, str] | None:
    if not game.moves:
        return None
    colour, point = game.moves[-1]
    return {"colour": colour_name(colour), "vertex": game.vertex(point)}


def _report_of(session: "Session") -> dict[str, Any] | None:
    report = session.report
    if report is None:
        return None
    moves = [
        {
            "vertex": move.vertex,
            "winrate": round(move.winrate, 4),
            "lead": round(move.lead, 1) + 0.0,  # no -0.0
            "visits": move.visits,
            "prior": round(move.prior, 4),
            "line": list(move.pv_vertices),
        }
        for move in session.searches.shown_moves[:_LISTED]
    ]
    return {"kind": session.shown, **_values(report), "moves": moves}


def _opinion_of(session: "Session") -> dict[str, Any] | None:
    """Returns what the engine thought when it made its last move; None if that move is not in the line shown."""
    if session.opinion is None:
        return None
    report, node = session.opinion
    return _values(report) if node in session.line else None


def _values(report: SearchReport) -> dict[str, Any]:
    """Returns the values of a search; win rate and lead are those of the side to move."""
    winrate, lead = report.winrate, report.lead
    return {
        "toMove": colour_name(report.to_move),
        "winrate": round(winrate, 4),
        "lead": round(lead, 1) + 0.0,
        "leader": colour_name(report.to_move if lead >= 0 else opponent(report.to_move)),
        "visits": report.visits,
        "seconds": round(report.seconds, 2),
    }
