"""A web service that analyses game records: one engine, a queue, a time limit.

    python examples/service.py --port 8080
    curl --data-binary @game.sgf "http://localhost:8080/?visits=200"

It answers with the value of a record's last position and its best moves, as JSON. A client that disconnects, or whose
time is over, is searched for no longer. The engine and the server share one thread, which never waits for a search.
"""

import argparse
import asyncio
from typing import Any

from tornado.web import Application, RequestHandler

from gtp_engine import Engine, EngineSettings, Limits, UserError, read_sgf


class Busy(Exception):
    """Too many clients wait already."""


class Service:
    """Analyses one position at a time.

    Args:
        engine: The engine, made in this thread.
        seconds: How long a client waits for its answer, the time in the queue included.
        most: How many clients may be waiting at once.
    """

    def __init__(self, engine: Engine, seconds: float = 30.0, most: int = 20) -> None:
        self.engine, self.seconds, self.most = engine, seconds, most
        self.waiting = 0
        self._turn = asyncio.Lock()

    async def analyse(self, sgf: bytes, visits: int) -> dict[str, Any]:
        """Returns the analysis of a record's last position.

        Raises:
            Busy: Too many clients wait.
            TimeoutError: The time is over.
            UserError: It is not a record that can be analysed.
        """
        game, limits = read_sgf(sgf).to_game(), Limits(visits)
        if self.waiting >= self.most:
            raise Busy
        self.waiting += 1
        try:
            async with asyncio.timeout(self.seconds), self._turn:
                self.engine.load(game)
                # A task that is cancelled, by the time limit too, cancels this future, which ends its search.
                report = await asyncio.wrap_future(self.engine.analyze(self.engine.request(limits=limits)))
        finally:
            self.waiting -= 1
        return {"winrate": report.winrate, "lead": report.lead, "visits": report.visits, "moves": report.table()}


class Analysis(RequestHandler):
    """Answers POST requests, each with a record as its body."""

    def initialize(self, service: Service) -> None:
        """Remembers the service."""
        self.service = service
        self.task: asyncio.Task[dict[str, Any]] | None = None

    async def post(self) -> None:
        """Answers with an analysis, or with a status and a line that say why there is none."""
        try:
            visits = int(self.get_query_argument("visits", "100"))
        except ValueError:
            self.refuse(400, "visits: expected a whole number")
            return
        self.task = asyncio.create_task(self.service.analyse(self.request.body, visits))
        try:
            self.finish(await self.task)
        except asyncio.CancelledError:  # the client has disconnected
            pass
        except Busy:
            self.refuse(503, "too many requests are waiting, try again later")
        except TimeoutError:
            self.refuse(504, f"no answer within {self.service.seconds:g} s: ask for fewer visits")
        except UserError as error:
            self.refuse(400, str(error))

    def on_connection_close(self) -> None:
        """Ends the search for a client that has disconnected."""
        if self.task is not None:
            self.task.cancel()

    def refuse(self, status: int, reason: str) -> None:
        """Answers with an error."""
        self.set_status(status)
        self.finish({"error": reason})


def application(service: Service) -> Application:
    """Returns the web application of a service."""
    return Application([("/", Analysis, {"service": service})])


async def serve(port: int, settings: EngineSettings) -> None:
    """Serves until it is interrupted."""
    with Engine(settings) as engine:
        application(Service(engine)).listen(port, "127.0.0.1")
        print(f"listening on http://127.0.0.1:{port}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--network", default="auto", help="a network's file or name")
    arguments = parser.parse_args()
    try:
        asyncio.run(serve(arguments.port, EngineSettings(arguments.network)))
    except KeyboardInterrupt:
        print("stopped")
