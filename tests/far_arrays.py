"""A stand-in for arrays on a GPU, which cupy would hold and no numpy function takes.

`FarArray` refuses what `cupy.ndarray` refuses: to become an array of numpy by itself, and to meet
one in a sum. Only `.get()` brings it near, and only `FarOps.asarray` and its like make one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import thinc.backends
import thinc.util
from thinc.api import Ops, get_current_ops, set_current_ops

# what cupy takes arrays of numpy for
ALLOWED = {"array", "asarray", "ascontiguousarray", "save"}
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor"
COMPARED = "lt le gt ge eq ne"


class FarArray:
    """An array somewhere else."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Any):
        self._data = np.asarray(data)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Use `.get()`.")

    def get(self) -> Any:
        """A copy near by."""
        return self._data.copy()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # neither the array interface nor the buffer protocol
            raise AttributeError(name)
        found = getattr(self._data, name)
        return _far_function(found) if callable(found) else _far(found)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        return _far(self._data[_near(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[_near(key)] = _near(value)

    def __float__(self) -> float:
        return float(self._data)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __neg__(self) -> FarArray:
        return FarArray(-self._data)

    def __invert__(self) -> FarArray:
        return FarArray(~self._data)


def _operator(name: str) -> Callable[[FarArray, Any], Any]:
    def operate(self: FarArray, other: Any) -> Any:
        done = getattr(self._data, name)(_near(other))
        return done if done is NotImplemented else _far(done)

    return operate


for _name in BINARY.split():
    for _form in ("__{}__", "__r{}__", "__i{}__"):
        setattr(FarArray, _form.format(_name), _operator(_form.format(_name)))
for _name in COMPARED.split():
    setattr(FarArray, f"__{_name}__", _operator(f"__{_name}__"))


def _far(value: Any) -> Any:
    """What numpy gave, somewhere else."""
    if isinstance(value, np.ndarray | np.generic):
        return FarArray(value)
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(map(_far, value))
    return value


def _near(value: Any, allowed: bool = False) -> Any:
    """What numpy takes; an array that is near by already is refused."""
    if isinstance(value, FarArray):
        return value._data
    if isinstance(value, np.ndarray) and value.ndim and not allowed:
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_near(v, allowed) for v in value)
    return value


def _far_function(function: Callable[..., Any], allowed: bool = False) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        near = {key: _near(value, allowed) for key, value in kwargs.items()}
        return _far(function(*(_near(value, allowed) for value in args), **near))

    return call


class FarModule:
    """What `cupy` would be: the functions of numpy, for arrays somewhere else."""

    ndarray = FarArray

    def __init__(self, near: Any = np):
        self._module = near

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name in ("random", "linalg"):
            return FarModule(found)
        if name == "split":  # where, cupy must be told from near by
            return lambda array, at: _far(np.split(_near(array), at))
        plain = isinstance(found, type) or not callable(found)
        return found if plain else _far_function(found, name in ALLOWED)


class FarOps(Ops):
    """The operations of thinc on arrays somewhere else."""

    name = "far"
    xp: Any = FarModule()

    def to_numpy(self, data: Any, *, byte_order: str | None = None) -> Any:
        """An array near by."""
        return data if isinstance(data, np.ndarray) else data.get()

    def hash(self, ids: Any, seed: int) -> Any:
        """As the CPU has it, with a detour."""
        return FarArray(thinc.backends.NumpyOps().hash(ids.get(), seed))

    def scatter_add(self, table: Any, indices: Any, values: Any) -> Any:
        """Add rows to a table."""
        np.add.at(table._data, _near(indices), _near(values))
        return table


@contextmanager
def far_away() -> Iterator[None]:
    """Models that are made here have their arrays somewhere else."""
    before = get_current_ops()
    with (
        mock.patch.object(thinc.util, "has_cupy", True),
        mock.patch.object(thinc.util, "cupy", FarOps.xp),
        mock.patch.object(thinc.backends, "CupyOps", FarOps),
    ):
        set_current_ops(FarOps())
        try:
            yield
        finally:
            set_current_ops(before)
