"""`python -m api jobs`: list the jobs, or run one now."""

import argparse
from datetime import datetime

from api import jobs
from api.commands.operate import with_services
from api.commands.output import fail, show
from api.config import Config
from api.core.times import rfc3339
from api.service.services import Services
from api.store import jobs as runs

NAME, HELP = "jobs", "List the server's jobs, or run one now."


def add(parser: argparse.ArgumentParser) -> None:
    """list, run."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="list the jobs and when each last finished")
    running = actions.add_parser("run", help="run a job now, whether or not its slot was run")
    running.add_argument("name", choices=[job.name for job in jobs.JOBS], help="the job's name")
    running.add_argument("--now", help="the time to run it for, RFC 3339 (default: the clock's)")


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Prints the jobs, or what the job did."""
    if arguments.action == "list":
        return with_services(config, _list)
    try:
        now = None if arguments.now is None else int(datetime.fromisoformat(arguments.now).timestamp())
    except ValueError:
        return fail("--now must be an RFC 3339 time such as 2026-11-30T12:00:00Z")

    async def work(services: Services) -> int:
        job = jobs.named(arguments.name)
        done = await job.run(services, int(services.clock()) if now is None else now)
        show({"job": job.name, "done": done or "nothing to do"})
        return 0

    return with_services(config, work)


async def _list(services: Services) -> int:
    finished = await services.database.read(runs.last_finished)
    rows = [
        {
            "job": job.name,
            "every_seconds": job.every,
            "last_finished": rfc3339(finished[job.name]) if job.name in finished else None,
        }
        for job in jobs.JOBS
    ]
    show(rows)
    return 0
