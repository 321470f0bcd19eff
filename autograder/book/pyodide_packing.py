"""Python files as a reader's browser gets them: compiled for its Python, and packed.

Pyodide's own library, NumPy's wheel and our files hold sources, and to compile them was half of
what a start took. Pyodide compiles them here, under node, for the very Python that reads them.
"""

import gzip
import io
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import files, version
from pathlib import Path

from filelock import FileLock
from fontTools import subset

from autograder.book import runtime
from autograder.files import digest_of, write_atomically
from autograder.paths import ROOT
from autograder.typeset.katex import node_binary

LIBRARIES = ("array-api-compat", "jaxtyping", "wadler-lindig")
"""What course_lib imports beside NumPy."""
STANDARD, OTHERS, PICTURES = "standard.packed", "libraries.packed", "pictures.packed"
LIBRARY = "course_lib.packed"
COURSE = "/course"
NO_CACHES = shutil.ignore_patterns("__pycache__", "*.pyc")
CHARACTERS = "20-24f,2b0-2ff,370-3ff,2000-23ff,2500-25ff,2600-2bff,1d400-1d7ff"
"""In a figure's fonts: Latin, Greek, signs of mathematics."""
FOR_COMPILERS = (".pyi", ".pxd", ".h", ".a", ".c", ".pyx")
LEFT_OUT = {
    STANDARD: """
        __phello__ _aix_support.py _android_support.py _apple_support.py _collections_abc.py
        _ios_support.py _markupbase.py _osx_support.py _py_abc.py _pydatetime.py _pydecimal.py
        _pyio.py _pyrepl _ssl.py _strptime.py abc.py antigravity.py asyncio/__main__.py
        asyncio/proactor_events.py asyncio/tools.py asyncio/windows_* bdb.py cProfile.py cgi.py
        cmd.py code.py codecs.py compileall.py compression/zstd concurrent/futures/interpreter.py
        concurrent/futures/process.py concurrent/interpreters configparser.py crypt.py
        ctypes/_aix.py ctypes/_layout.py ctypes/macholib ctypes/util.py ctypes/wintypes.py curses
        dbm distutils doctest.py email/_header_value_parser.py email/contentmanager.py
        email/generator.py email/headerregistry.py email/mime email/policy.py encodings/big5*
        encodings/cp0* encodings/cp42* encodings/cp[1-35-9]* encodings/euc_* encodings/gb*
        encodings/hp_roman8.py encodings/hz.py encodings/idna.py encodings/iso2022*
        encodings/iso8859_1[0-6]* encodings/iso8859_[!1]* encodings/johab.py encodings/k*
        encodings/mac_* encodings/pt* encodings/punycode.py encodings/shift_jis*
        encodings/tis_620.py ensurepip filecmp.py fileinput.py ftplib.py genericpath.py getopt.py
        getpass.py graphlib.py http/client.py http/cookiejar.py http/cookies.py http/server.py
        idlelib imaplib.py importlib/_bootstrap* importlib/resources/_adapters.py
        importlib/resources/readers.py importlib/resources/simple.py io.py json/tool.py lib2to3
        logging/config.py logging/handlers.py mailbox.py mimetypes.py modulefinder.py
        multiprocessing netrc.py nntplib.py ntpath.py nturl2path.py optparse.py os.py
        pathlib/types.py pdb.py pickletools.py poplib.py posixpath.py profile.py profiling pstats.py
        pty.py py_compile.py pyclbr.py pydoc.py pydoc_data pyodide/_nodesock_transport.py
        pyodide/console.py pyodide/http/_pyfetch.py pyodide/http/pyxhr.py rlcompleter.py runpy.py
        sched.py shelve.py site.py smtplib.py socketserver.py sqlite3 ssl.py stat.py
        string/templatelib.py stringprep.py sysconfig/__main__.py tabnanny.py tarfile.py
        telnetlib.py test this.py timeit.py tkinter tomllib trace.py tty.py turtle.py turtledemo
        unittest/async_case.py urllib/request.py urllib/response.py urllib/robotparser.py uu.py venv
        wave.py webbrowser.py wsgiref xmlrpc zipapp.py zipimport.py zoneinfo
    """,
    OTHERS: """
        *.dist-info/RECORD *.dist-info/entry_points.txt array_api_compat/cupy array_api_compat/dask
        array_api_compat/torch array_api_compat/vendor_tests jaxtyping/_typeguard numpy/**/tests
        numpy/_configtool.py numpy/_core/*_tests.* numpy/_core/_simd.* numpy/_core/tests
        numpy/_pyinstaller numpy/_utils/_pep440.py numpy/conftest.py numpy/distutils numpy/doc
        numpy/f2py numpy/lib/*user_array* numpy/lib/recfunctions.py numpy/linalg/lapack_lite.*
        numpy/ma/mrecords.py numpy/ma/testutils.py numpy/matlib.py numpy/random/_examples
        numpy/random/lib numpy/testing/print_coercion_tables.py numpy/typing/mypy_plugin.py
    """,
    PICTURES: """
        *.dist-info/RECORD PIL/G*ImagePlugin.py PIL/ImageCms.py PIL/Image[!.CFMPS]*
        PIL/P[!n]*ImagePlugin.py PIL/PdfParser.py PIL/[A-FH-OQ-Z]*ImagePlugin.py PIL/_avif.*
        PIL/_imagingcms.* PIL/_imagingft.* PIL/_webp.* contourpy/util dateutil/zoneinfo
        html/parser.py matplotlib/**/tests matplotlib/_qhull.* matplotlib/animation.py
        matplotlib/backends/*cairo* matplotlib/backends/*gtk* matplotlib/backends/*macosx*
        matplotlib/backends/*qt* matplotlib/backends/*tk* matplotlib/backends/*web*
        matplotlib/backends/*wx* matplotlib/backends/_backend_pdf_ps.py
        matplotlib/backends/_backend_tk.py matplotlib/backends/backend_nbagg.py
        matplotlib/backends/backend_p* matplotlib/backends/qt_editor matplotlib/backends/web_backend
        matplotlib/mpl-data/fonts/afm matplotlib/mpl-data/fonts/pdfcorefonts
        matplotlib/mpl-data/fonts/ttf/DejaVuS[!a]*
        matplotlib/mpl-data/fonts/ttf/DejaVuSans-BoldOblique.ttf
        matplotlib/mpl-data/fonts/ttf/DejaVuSansMono* matplotlib/mpl-data/fonts/ttf/STIXG*
        matplotlib/mpl-data/fonts/ttf/STIXN* matplotlib/mpl-data/images
        matplotlib/mpl-data/plot_directive matplotlib/mpl-data/sample_data
        matplotlib/mpl-data/stylelib matplotlib/sankey.py matplotlib/sphinxext matplotlib/testing
        mpl_toolkits/**/tests mpl_toolkits/axes_grid1 mpl_toolkits/axisartist packaging/licenses
        packaging/metadata.py packaging/pylock.py pyparsing/diagram pyparsing/tools xml/dom
        xml/etree xml/sax
    """,
}
"""Paths in the archives that no cell and no answer imports: a reader does not wait for them."""
USED_BY_MATPLOTLIB = ("html", "plistlib.py", "xml")
POLYNOMIALS = "numpy/polynomial"
"""Of Python's library; they come with it."""
COMPILE = """
import { pathToFileURL } from "node:url";
const [pyodide, trees] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(pyodide));
const python = await loadPyodide();
const { compile_dir } = python.pyimport("compileall");
const unchecked = python.pyimport("py_compile").PycInvalidationMode.UNCHECKED_HASH;
for (const [number, { folder, home, alone }] of trees.entries()) {
  const tree = `/tree${number}`;
  python.mountNodeFS(tree, folder);
  const optimize = alone ? 2 : -1; // 2: without docstrings, a fifth of the size
  const how = { quiet: 1, ddir: home, legacy: alone, invalidation_mode: unchecked, optimize };
  if (!compile_dir.callKwargs(tree, how)) process.exitCode = 1;
}
"""
COMPILING = "Compiling Python's library and NumPy for the pages, once."


@dataclass(frozen=True)
class Tree:
    """Files that are compiled; with `alone`, the compiled ones take the place of the sources."""

    folder: Path
    home: str = COURSE  # where the browser will have them
    alone: bool = False


def pack(trees: dict[Path, Tree]) -> None:
    """Write each tree to its archive, a zip file that gzip has compressed as a whole.

    A browser undoes that while it loads, far faster than Python in it unpacks a compressed zip.
    """
    asked = [vars(tree) | {"folder": str(tree.folder)} for tree in trees.values()]
    pyodide = str(runtime.FOLDER / "pyodide.mjs")
    done = subprocess.run(
        [node_binary(), "--input-type=module", "--eval", COMPILE, json.dumps([pyodide, asked])],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"Pyodide could not compile:\n{done.stdout}{done.stderr}")
    for archive, tree in trees.items():
        for compiled in tree.folder.rglob("*.pyc") if tree.alone else ():
            compiled.with_suffix(".py").unlink()
        _write_zip(tree.folder, archive)


def packed_once(tell: Callable[[str], None] = lambda message: None) -> Path:
    """The folder with what all chapters share, made anew when what it is made from has changed."""
    folder = runtime.FOLDER / "packed"
    made_from = folder / "made-from"
    with FileLock(f"{runtime.FOLDER}.lock"):
        if not (made_from.is_file() and made_from.read_text() == digest()):
            tell(COMPILING)
            made_from.unlink(missing_ok=True)
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory() as temporary:
                standard, others, pictures = (
                    Path(temporary, name) for name in ("standard", "others", "pictures")
                )
                _unzip("python_stdlib.zip", standard)
                _unzip(runtime.NUMPY, others)
                _copy_libraries(others)
                for wheel in runtime.PICTURES:
                    _unzip(wheel, pictures)
                for used in USED_BY_MATPLOTLIB:
                    shutil.move(standard / used, pictures / used)
                (pictures / "numpy").mkdir()
                shutil.move(others / POLYNOMIALS, pictures / POLYNOMIALS)
                trees = {
                    STANDARD: Tree(standard, "/lib/python314.zip", alone=True),
                    OTHERS: Tree(others, alone=True),
                    PICTURES: Tree(pictures, alone=True),
                }
                for name, tree in trees.items():
                    _leave_out(tree.folder, LEFT_OUT[name].split())
                _subset_fonts(pictures)
                library = Path(temporary, "library")
                shutil.copytree(ROOT / "course_lib", library / "course_lib", ignore=NO_CACHES)
                trees[LIBRARY] = Tree(library, "/library", alone=True)
                pack({folder / name: tree for name, tree in trees.items()})
            write_atomically(made_from, digest())
    return folder


def digest() -> str:
    """Of all that the shared archives are made from; equal digests, equal archives."""
    versions = [version(library) for library in LIBRARIES]
    sources = [Path(__file__), *sorted((ROOT / "course_lib").rglob("*.py"))]
    return digest_of(sources, ROOT, *runtime.SHA256.values(), *versions)


def _unzip(name: str, folder: Path) -> None:
    with zipfile.ZipFile(runtime.FOLDER / name) as archive:
        wanted = [file for file in archive.namelist() if not file.endswith(FOR_COMPILERS)]
        archive.extractall(folder, wanted)


def _subset_fonts(folder: Path) -> None:
    for font in folder.glob("matplotlib/mpl-data/fonts/ttf/DejaVuSans*.ttf"):
        subset.main(
            [str(font), f"--unicodes={CHARACTERS}", f"--output-file={font}", "--drop-tables+=FFTM"]
        )


def _leave_out(folder: Path, patterns: list[str]) -> None:
    for pattern in patterns:
        for path in list(folder.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _copy_libraries(folder: Path) -> None:
    for library in LIBRARIES:
        for file in files(library) or ():
            code = file.suffix == ".py" and "tests" not in file.parts
            if code or ".dist-info" in file.parts[0]:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), folder / file)


def _write_zip(folder: Path, archive: Path) -> None:
    """With __pycache__, which is what it is about, and stored: gzip compresses the whole."""
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as into:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                into.write(path, path.relative_to(folder).as_posix())
    write_atomically(archive, gzip.compress(stored.getvalue(), mtime=0))
