"""How commands reach what the operator's routes do: the same operations, called without HTTP and without a token."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from api import app
from api.commands.output import fail, show
from api.config import Config
from api.problems import Problem
from api.service.call import Call
from api.service.routes import OPEN, OpenHandler
from api.service.services import Services
from api.store.database import NewerSchema, StorageUnavailable


def with_services(config: Config, work: Callable[[Services], Awaitable[int]]) -> int:
    """Runs `work` on the configured database; its exit status, 1 when the database can't be used."""

    async def opened() -> int:
        services = await app.open_services(config)
        try:
            return await work(services)
        finally:
            await services.database.close()

    try:
        return asyncio.run(opened())
    except (StorageUnavailable, NewerSchema) as error:
        return fail(f"The database can't be used: {error}. Check DATABASE_URL.")


def call(config: Config, operation: str, arguments: Mapping[str, Any], path: Mapping[str, str] | None = None) -> int:
    """Runs an operator's operation and prints its result, or says what is wrong."""

    async def work(services: Services) -> int:
        request = Call(services.contract.operations[operation], "cli", "", lambda: arguments, path=path or {})
        handler: OpenHandler = OPEN[operation]
        schema = request.operation.body
        faults = schema.faults(arguments) if schema else []
        if faults:
            return fail("\n".join(f"{fault.path.lstrip('/')} {fault.message}" for fault in faults))
        try:
            reply = await handler(services, request, arguments)
        except Problem as problem:
            return fail(problem.detail or problem.code)
        show(reply.body)
        return 0

    return with_services(config, work)
