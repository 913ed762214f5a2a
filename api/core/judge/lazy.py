"""Pure: a value worked out when it is first asked for.

`functools.cached_property` does the same and takes a lock each time it computes, in Python 3.11 (3.12 dropped it). Here
that is felt: a judgement of two sentences makes a dozen of them, and no judgement is shared between threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - used as a decorator, like property
    """`@lazy def name(self)`: computed once per instance, which must have a `__dict__`."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        # The instance's own entry comes before this descriptor from now on.
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
