"""Tuples, lists and dicts within one another, as tests pass them and functions return them."""

from collections.abc import Callable, Iterator
from typing import Any


def map_leaves(change: Callable[[Any], Any], value: Any, *, plain: bool = False) -> Any:
    """The same containers, with `change` applied to whatever is none.

    Subclasses of tuple and list, a NamedTuple too, stay what they are unless `plain` is asked for;
    a dict becomes a plain one. The keys of dicts are left as they are.
    """
    if isinstance(value, dict):
        return {key: map_leaves(change, item, plain=plain) for key, item in value.items()}
    if not isinstance(value, (tuple, list)):
        return change(value)
    items = [map_leaves(change, item, plain=plain) for item in value]
    if plain:
        return tuple(items) if isinstance(value, tuple) else items
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def leaves(value: Any) -> Iterator[Any]:
    """Whatever is no container, from left to right."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        yield value
        return
    for item in value:
        yield from leaves(item)
