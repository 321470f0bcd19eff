"""Pages whose cells have to be run are run side by side, while the other pages are read.

jupyter-cache has an executor that runs pages in parallel, too, but no page is read before the last
has been run, and each kernel is asked to end and waited for.
"""

import contextlib
import os
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from autograder.book.build_state import state_of

THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"


def use_plain_kernels(root: Path) -> None:
    """A page must not depend on somebody's IPython settings; its kernel keeps quiet.

    Its arrays are small: a second thread waits more than it computes, and other programs wait too.
    """
    profile = root / "_build" / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text('c.IPKernelApp.log_level = "ERROR"\n')
    os.environ |= dict.fromkeys(THREADS, "1") | {"IPYTHONDIR": str(profile.parent)}


def run_ahead(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """They are read last, from the cache in which myst-nb looks for what cells have printed."""
    state = state_of(app)
    state.threads, running = ThreadPool(os.cpu_count()), state.running
    for page in pages:
        notebook = _to_be_run(env, Path(env.doc2path(page)))
        if notebook:
            running[page] = state.threads.apply_async(_run, (notebook, env, page))
    pages.sort(key=lambda page: (page in running, page))


def notebook_of(env: BuildEnvironment, path: Path) -> NotebookNode | None:
    """The page as a notebook, its cells not run; none, if it is plain Markdown."""
    text = path.read_text(encoding="utf-8")
    reader = create_nb_reader(str(path), _markdown_config(env), _config(env), text)
    return None if reader is None else reader.read(text)


def executed_notebook(env: BuildEnvironment, path: Path) -> NotebookNode | None:
    """The page as a notebook with what its cells have printed, once it has been read."""
    notebook = notebook_of(env, path)
    if notebook is not None:
        with contextlib.suppress(KeyError):  # a page that failed is told about elsewhere
            notebook = _cache(env).merge_match_into_notebook(notebook)[1]
    return notebook


def _to_be_run(env: BuildEnvironment, path: Path) -> NotebookNode | None:
    """The page as a notebook; none, if it has no cells or the cache knows what they print."""
    notebook = notebook_of(env, path)
    if notebook is None:
        return None
    try:
        _cache(env).match_cache_notebook(notebook)
    except KeyError:
        return notebook
    return None


def _run(notebook: NotebookNode, env: BuildEnvironment, page: str) -> ExecutionResult:
    config = _config(env)
    return single_nb_execution(
        notebook,
        cwd=str(Path(env.doc2path(page)).parent),
        allow_errors=config.execution_allow_errors,
        timeout=config.execution_timeout,
        shutdown_kernel="immediate",  # whatever a page leaves behind, nobody waits for it
    )


def wait_for(app: Sphinx, page: str, source: list[str]) -> None:
    """If a cell has failed the page is not kept: myst-nb runs it again, and tells."""
    result = state_of(app).running.pop(page, None)
    if result is None:
        return
    run = result.get()
    if run.err is None:
        data = {"execution_seconds": run.time}
        uri = str(app.env.doc2path(page))
        _cache(app.env).cache_notebook_bundle(
            CacheBundleIn(run.nb, uri, data=data), check_validity=False, overwrite=True
        )


def _cache(env: BuildEnvironment) -> JupyterCacheAbstract:
    return get_cache(_config(env).execution_cache_path)


def _config(env: BuildEnvironment) -> NbParserConfig:
    return env.mystnb_config  # type: ignore[attr-defined]  # myst-nb puts it there


def _markdown_config(env: BuildEnvironment) -> Any:
    return env.myst_config  # type: ignore[attr-defined]  # myst-parser puts it there


def setup(app: Sphinx) -> None:
    app.connect("config-inited", lambda app, config: use_plain_kernels(Path(app.srcdir)))
    app.connect("env-before-read-docs", run_ahead)
    app.connect("source-read", wait_for, priority=400)
