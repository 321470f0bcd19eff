"""What one build of the book keeps from one Sphinx event to the next, with types."""

from dataclasses import dataclass, field
from multiprocessing.pool import AsyncResult, ThreadPool
from weakref import WeakKeyDictionary

from docutils import nodes
from jupyter_cache.executors.utils import ExecutionResult
from nbformat import NotebookNode
from sphinx.application import Sphinx

from autograder.exercises.assignment import Assignment
from autograder.typeset.katex import Katex


@dataclass
class BuildState:
    """Filled while pages are read, used when they are written."""

    katex: Katex | None = None  # None for a builder that writes no HTML
    threads: ThreadPool | None = None  # in which pages are run
    running: dict[str, AsyncResult[ExecutionResult]] = field(default_factory=dict)  # by page
    pictures: dict[str, nodes.Node] = field(default_factory=dict)  # where each file is shown
    offered: list[Assignment] = field(default_factory=list)  # whose zips are linked
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)  # to take along, by chapter
    tried: set[str] = field(default_factory=set)  # chapters whose exercises are done in the page
    with_cells: set[str] = field(default_factory=set)  # pages whose code can be run


_states: WeakKeyDictionary[Sphinx, BuildState] = WeakKeyDictionary()


def state_of(app: Sphinx) -> BuildState:
    """The state of this build, empty at first; in the process that builds, and not pickled."""
    return _states.setdefault(app, BuildState())
