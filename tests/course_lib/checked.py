"""course_lib a second time, with every shape annotation checked on every call.

Production code pays nothing for this, and other tests keep the course_lib they know.
"""

import importlib
import pkgutil
import sys

from jaxtyping import install_import_hook

FORMULAS = [
    f"course_lib.{module.name}"
    for module in pkgutil.iter_modules(["course_lib"])
    if not module.name.startswith("_") and module.name != "checking"
]


def _import_checked():
    plain = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
    try:
        with install_import_hook(FORMULAS, "beartype.beartype"):
            return importlib.import_module("course_lib")
    finally:
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(plain)


def _is_ours(name: str) -> bool:
    return name == "course_lib" or name.startswith("course_lib.")


course_lib = _import_checked()
