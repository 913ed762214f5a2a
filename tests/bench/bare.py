"""A bare Tornado handler, as the tutorial writes it, that returns a consensus answer without any work: the floor to
compare with.

Run as `python -m tests.bench.bare PORT`.
"""

import asyncio
import logging
import os
import sys

from tornado.web import Application, RequestHandler

from tests.bench.answer import ANSWER


class Consensus(RequestHandler):
    """Answers the same JSON to everything."""

    async def post(self) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(ANSWER)


async def main(port: int) -> None:
    """Serves until it is killed."""
    # As it comes, the access log included; into nothing, so that a terminal's speed does not matter.
    logging.basicConfig(filename=os.devnull, level=logging.INFO)
    Application([("/v1/consensus", Consensus)]).listen(port, "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
