"""The graph of a game: Black's win rate and lead at those positions of the line that is shown which were searched."""

from ...base.chart import Axis, Chart
from .reviewing import Reviewing
from .session import Document, Part, Session

_LEAST_LEAD = 10.0  # points each way that the scale of leads has at least: else a quiet game would look wild
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
        scale = max(_LEAST_LEAD, *(abs(lead) for _, _, lead in curve))
        leads = [(place, lead) for place, _, lead in curve]
        # Win rates stand on the scale of leads: 100 % where Black leads by most.
        rates = [(place, scale * (2 * winrate - 1)) for place, winrate, _ in curve]
        chart = Chart(Axis(0, max(1, len(line) - 1)), Axis(-scale, scale))
        chart.line([(0, 0), (chart.x.high, 0)], 'class="middle"')
        chart.line(rates, 'class="winrate"')
        chart.line(leads, 'class="lead"')
        worst = {} if job is None else job.mistakes
        if dots := [(place, lead) for place, lead in leads if line[place] in worst]:
            chart.dots(dots, 'class="mistakes"')
        chart.add('<line class="cursor" y2="100%"/>')  # which the page moves to the position that is shown
        return {"svg": chart.stretched(_HEIGHT, ""), "curve": curve, "scale": scale}
