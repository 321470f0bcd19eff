"""Files out of reach without namespaces: Landlock (Linux 5.13 and later).

What it cannot do, and who does it instead: it covers neither chmod, chown, times and attributes nor
truncation by name (refused in filters.py); before Linux 6.12 neither signals nor abstract sockets
(there too); scratch has no size of its own (RLIMIT_FSIZE for a file, the referee's watch for the
sum). Nobody hides that a file exists: stat, access and the target of a link can still be asked.
"""

import ctypes
import os

from autograder.sandbox import system

EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER, TRUNCATE, CONTROL = 1, 2, 4, 8, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_FOLDER
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | CONTROL
PATH_BENEATH, ASK_VERSION = 1, 1
NO_TCP, NO_SIGNALS_NO_ABSTRACT_SOCKETS = 3, 3


def version() -> int:
    """What this kernel offers; OSError where it offers nothing."""
    return system.call("landlock_create_ruleset", None, 0, ASK_VERSION)


def restrict(read: list[str], write: list[str]) -> None:
    """From now on this process and all that it starts may use these files and no others."""
    abi = version()
    everything = _file_rights(abi)
    handled = [everything, NO_TCP if abi >= 4 else 0]
    if abi >= 6:
        handled.append(NO_SIGNALS_NO_ABSTRACT_SOCKETS)
    attributes = (ctypes.c_uint64 * len(handled))(*handled)
    size = ctypes.sizeof(attributes) if abi >= 4 else 8
    rules = system.call("landlock_create_ruleset", attributes, size, 0)
    for paths, rights in ((read, READ), (write, everything)):
        for path in filter(os.path.exists, paths):
            _allow(rules, path, rights & everything)
    system.no_new_privileges()
    system.call("landlock_restrict_self", rules, 0)
    os.close(rules)


def _file_rights(abi: int) -> int:
    newest = 13 + (abi >= 2) + (abi >= 3) + (abi >= 5)
    return (1 << newest) - 1


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def _allow(rules: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    beneath = _Beneath(rights if os.path.isdir(path) else rights & OF_A_FILE, descriptor)
    system.call("landlock_add_rule", rules, PATH_BENEATH, ctypes.byref(beneath), 0)
    os.close(descriptor)
