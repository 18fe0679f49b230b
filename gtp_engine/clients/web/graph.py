"""The graph of a game: Black's win rate and lead at those positions of the line that is shown which were searched."""

from ...base.chart import Axis, Chart, drawn_leads
from .reviewing import Reviewing
from .session import Document, Part, Session

_HEIGHT = 90  # pixels


class Graph(Part):
    """The graph with the worst moves of the review."""

    name = "graph"

    def __init__(self, session: Session, reviewing: Reviewing) -> None:
        super().__init__(session)
        self._reviewing = reviewing

    def document(self) -> Document:
        line, job = self.session.line, self._reviewing.job
        curve = self.values.curve(line)
        if len(curve) < 2:
            return {"svg": None, "curve": curve}
        tree = self.played.tree
        leads, scale = drawn_leads([lead for _, _, lead in curve], tree.width * tree.height)
        drawn = [(place, lead) for (place, _, _), lead in zip(curve, leads, strict=True)]
        # Win rates stand on the scale of leads: 100 % at the top.
        rates = [(place, scale * (2 * winrate - 1)) for place, winrate, _ in curve]
        chart = Chart(Axis(0, max(1, len(line) - 1)), Axis(-scale, scale))
        chart.line([(0, 0), (chart.x.high, 0)], 'class="middle"')
        chart.line(rates, 'class="winrate"')
        chart.line(drawn, 'class="lead"')
        chart.arrows([(place, lead) for place, _, lead in curve], scale, 'class="beyond"')
        worst = {} if job is None else job.mistakes
        if dots := [(place, lead) for place, lead in drawn if line[place] in worst]:
            chart.dots(dots, 'class="mistakes"')
        chart.add('<line class="cursor" y2="100%"/>')  # which the page moves to the position that is shown
        return {"svg": chart.stretched(_HEIGHT, ""), "curve": curve, "scale": scale}
