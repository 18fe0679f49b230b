"""What a search found as an answer of KataGo's JSON analysis protocol (its docs/Analysis_Engine.md)."""

import hashlib
from typing import Any

import numpy as np

from ..evaluate.interface import Outputs
from ..game.coords import PASS, colour_letter, opponent, vertex, xy
from ..game.game import Game
from ..game.symmetry import COUNT, TRANSPOSE, apply
from ..search.report import MoveReport, SearchReport
from .query import Query

_DIGITS = 9
_OWNERSHIP_DIGITS = 4
_KO = 4  # beside EMPTY, BLACK and WHITE
_NOT_SAID = -1.0  # KataGo's value of an outlook that a network does not have


def no_results(query_id: str, turn: int) -> dict[str, Any]:
    """The answer about a position that was not searched at all."""
    return {"id": query_id, "isDuringSearch": False, "noResults": True, "turnNumber": turn}


def answer(
    query: Query, turn: int, game: Game, report: SearchReport, root: Outputs | None, *, during: bool
) -> dict[str, Any]:
    """The answer about one position. root: what the evaluator says of it without a search; during: more will follow."""
    view = _View(query, report)
    fields = {
        "id": query.id,
        "isDuringSearch": during,
        "moveInfos": [view.move(move) for move in report.moves],
        "rootInfo": view.root(game, root),
        "turnNumber": turn,
    }
    if "includeOwnership" in query.wanted and report.ownership is not None:
        fields["ownership"] = view.ownership(report.ownership)
    if "includeOwnershipStdev" in query.wanted:
        fields["ownershipStdev"] = np.round(report.ownership_spread().ravel(), _OWNERSHIP_DIGITS).tolist()
    if "includePolicy" in query.wanted and root is not None:
        policy = np.where(game.legal_moves(), root.policy[0].astype(np.float64), -1.0)
        fields["policy"] = [round(prior, _DIGITS) for prior in policy.tolist()]
    return fields


class _View:
    """A report from the side that the query asks for."""

    def __init__(self, query: Query, report: SearchReport) -> None:
        self.query = query
        self.report = report
        self.turned = query.perspective == opponent(report.to_move)

    def winrate(self, value: float) -> float:
        return round(1 - value if self.turned else value, _DIGITS)

    def points(self, value: float) -> float:
        """Points, or utility."""
        return round(-value if self.turned else value, _DIGITS)

    def ownership(self, values: np.ndarray) -> list[float]:
        signed = -values if self.turned else values
        return [float(value) for value in np.round(signed.ravel().astype(np.float64), _OWNERSHIP_DIGITS).tolist()]

    def move(self, move: MoveReport) -> dict[str, Any]:
        length = self.query.pv_length + 1  # KataGo counts the moves after the first
        visits = list(move.pv_visits[:length])
        # KataGo raises that of the move with the best lower bound above the others'.
        selection = move.selection if move.order else max(other.selection for other in self.report.moves)
        fields = {
            "move": self._vertex(move.point),
            "visits": move.visits,
            # Without transpositions a position is reached by one edge only.
            "edgeVisits": move.visits,
            "utility": self.points(move.utility),
            "winrate": self.winrate(move.winrate),
            "scoreMean": self.points(move.lead),
            "scoreStdev": round(move.score_stdev, _DIGITS),
            "scoreLead": self.points(move.lead),
            "scoreSelfplay": self.points(move.score_mean),
            "prior": round(move.prior, _DIGITS),
            "lcb": self.winrate(move.lcb),
            "utilityLcb": self.points(move.utility_lcb),
            "weight": move.weight,
            "edgeWeight": move.weight,
            "order": move.order,
            "playSelectionValue": selection,
            "pv": [self._vertex(point) for point in move.pv[:length]],
        }
        if "includePVVisits" in self.query.wanted:
            fields |= {"pvVisits": visits, "pvEdgeVisits": visits}
        if "includeNoResultValue" in self.query.wanted:
            fields["noResultValue"] = 0.0  # the tree does not keep it
        if "includeMovesOwnership" in self.query.wanted and move.ownership is not None:
            fields["ownership"] = self.ownership(move.ownership)
        return fields

    def root(self, game: Game, root: Outputs | None) -> dict[str, Any]:
        report = self.report
        return {
            "currentPlayer": colour_letter(report.to_move),
            "visits": report.visits,
            "utility": self.points(report.utility),
            "winrate": self.winrate(report.winrate),
            "scoreLead": self.points(report.lead),
            "scoreSelfplay": self.points(report.score_mean),
            "scoreStdev": round(report.score_stdev, _DIGITS),
            "weight": float(report.visits),
            **(self._raw(root) if root is not None else {}),
            **_hashes(game),
        }

    def _raw(self, root: Outputs) -> dict[str, float]:
        win, _, neither = root.value[0].tolist()
        outlook = (_NOT_SAID,) * 3 if root.outlook is None else root.outlook[0].tolist()
        value_error, score_error, time_left = outlook
        return {
            "rawWinrate": self.winrate(win + neither / 2),
            "rawLead": self.points(float(root.lead[0])),
            "rawScoreSelfplay": self.points(float(root.score_mean[0])),
            "rawScoreSelfplayStdev": round(float(root.score_stdev[0]), _DIGITS),
            "rawNoResultProb": round(neither, _DIGITS),
            "rawStWrError": round(value_error / 2, _DIGITS),  # of win less loss, which span twice as much
            "rawStScoreError": round(score_error, _DIGITS),
            "rawVarTimeLeft": round(time_left, _DIGITS),
        }

    def _vertex(self, point: int) -> str:
        return vertex(point, self.report.width, self.report.height)


def _hashes(game: Game) -> dict[str, str]:
    """A name of stones, player to move and ko, and one that all turned and mirrored forms have in common."""
    marks = game.stones()
    ko_point = int(game.board["ko_point"][0])
    if ko_point != PASS:
        x, y = xy(ko_point, game.width)
        marks[y, x] = _KO
    # An oblong board is not transposed.
    turns = range(COUNT) if game.width == game.height else range(TRANSPOSE)
    names = [_name_of(apply(marks, turn), game.to_move) for turn in turns]
    return {"thisHash": names[0], "symHash": min(names)}


def _name_of(marks: np.ndarray, to_move: int) -> str:
    text = bytes((*marks.shape, to_move)) + marks.tobytes()
    return hashlib.blake2b(text, digest_size=16).hexdigest().upper()
