"""Files that a page downloads: the game, its review, and the user's problems."""

from collections.abc import Callable
from typing import NamedTuple

from ...base.errors import UserError
from ...base.languages.texts import DEFAULT, ISOLATES, LANGUAGES
from ...study.kept_problems import KeptProblems
from ...table.database import Database
from .reviewing import Reviewing
from .session import Part, Session


class Download(NamedTuple):
    """A file: what it is called, and what makes its content, on any thread."""

    name: str
    content: Callable[[], str]


class Sharing(Part):
    """What is given away."""

    name, follows_position = "sharing", False

    def __init__(self, session: Session, reviewing: Reviewing, database: Database) -> None:
        super().__init__(session)
        self._reviewing, self._database = reviewing, database

    def file(self, kind: str, language: str = DEFAULT) -> Download:
        """Returns one of the files, by its name in addresses, in the language of the page.

        Raises UserError if there is nothing of this kind to share.
        """
        language = language if language in LANGUAGES else DEFAULT
        if kind == "game.sgf":
            text = self.session.download()
            return Download(f"{self.session.title()}.sgf", lambda: text)
        if kind == "problems.sgf":
            cards = KeptProblems(self._database).coming()
            if not cards:
                raise UserError("no problems are kept")

            def problems() -> str:
                from ...study.problem_sgf import collection  # later than the first board

                return collection(cards, language)

            return Download("problems.sgf", problems)
        job = self._reviewing.job
        if job is None or job.step is None or job.stage != "done":
            raise UserError("there is no finished review")
        review = job.step.review

        def written() -> str:
            if kind == "review.sgf":
                from ...study.review_sgf import annotated

                return annotated(review).to_sgf()
            from ...study.page.page import review_page

            return review_page([review], language)

        players = review.title_in(language).translate(ISOLATES)
        name = f"{players} {review.record.date[:10]}".strip().replace("/", "-")
        return Download(f"{name}{kind.removeprefix('review')}", written)
