"""Names to addresses, in threads that nobody waits for at the end.

The event loop's own look-ups share a few threads with everything else, and a process waits for them before it ends: a
name whose servers never answer would hold up both.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable

AT_ONCE = 32

Resolve = Callable[[str], Awaitable[list[str]]]
"""The addresses of a host name, or of an address itself. Raises OSError when there are none."""


class Names:
    """A `Resolve` by the operating system. At most 32 look-ups go on at once; the rest wait for their turn. Belongs to
    one event loop."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, host: str) -> list[str]:
        """See `Resolve`."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def settle(found: list[str] | OSError) -> None:
            # Only now: who gave up waiting does not make the thread end sooner.
            self._free.release()
            if answer.done():
                return
            if isinstance(found, OSError):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        def look_up() -> None:
            found = _look_up(host)
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, found)

        threading.Thread(target=look_up, name="names", daemon=True).start()
        return await answer


def _look_up(host: str) -> list[str] | OSError:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except UnicodeError as error:
        # A label that no name can have.
        return OSError(str(error))
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
