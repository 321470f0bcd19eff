"""One small way to drive three engines as they are installed: open, run, press, what went wrong.

Playwright drives only its own Firefox and WebKit, downloads of 100 MB each. The stock ones speak
the protocols of the W3C: Firefox WebDriver BiDi, WebKitGTK the older WebDriver.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
from itertools import count
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
import websocket
from playwright.sync_api import Error as PlaywrightError

from tests.waiting import wait_until

PATIENCE = 120
ENTER = "\ue007"
AS_A_PROMISE = "(async () => { %s })().then(value => JSON.stringify(value ?? null))"


def program(engine: str, *names: str) -> str:
    """The first of these programs that is installed; patterns are for what is not on the path."""
    programs = [path for name in names if (path := shutil.which(name))]
    programs += [str(path) for name in names if "*" in name for path in Path("/").glob(name)]
    if not programs:
        line = f"{engine} not tried: none of {', '.join(names)} is installed"
        pytest.fail(line) if os.environ.get("CI") == "true" else pytest.skip(line)
    return programs[0]


def stop(process: subprocess.Popen) -> None:
    with process:  # and its pipes
        process.terminate()


def strokes(keys: str) -> list[dict]:
    """Keys pressed one after the other, as both protocols of the W3C say it."""
    actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
    return [{"type": "key", "id": "keyboard", "actions": actions}]


class Chromium:
    def __init__(self, browser):
        self.context = browser.new_context()
        self.tab, self.errors = self.context.new_page(), []
        self.tab.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, address: str) -> None:
        self.tab.goto(address)

    def run(self, script: str):
        try:
            return json.loads(self.tab.evaluate(AS_A_PROMISE % script))
        except PlaywrightError as error:
            if "because of a navigation" not in error.message:
                raise
        self.tab.wait_for_load_state()  # a key that was pressed has led to another page meanwhile
        return self.run(script)

    def press(self, keys: str) -> None:
        for key in keys:
            self.tab.keyboard.press("Enter" if key == ENTER else key)

    def close(self) -> None:
        self.context.close()


class Firefox:
    """Firefox by WebDriver BiDi."""

    def __init__(self, profile: Path):
        options = ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile]
        firefox = program("Firefox", "firefox-esr", "firefox")
        self.process = subprocess.Popen(
            [firefox, *options],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"HOME": profile},
        )
        listening = (re.search(r"BiDi listening on (\S+)", line) for line in self.process.stderr)
        address = next(filter(None, listening))[1]
        self.socket = websocket.create_connection(
            f"{address}/session", timeout=PATIENCE, suppress_origin=True
        )
        self.numbers, self.errors = count(1), []
        self._send("session.new", capabilities={})
        self._send("session.subscribe", events=["log.entryAdded"])
        self.tab = self._send("browsingContext.create", type="tab")["context"]
        self._send("browsingContext.activate", context=self.tab)

    def _send(self, method: str, **params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (got := json.loads(self.socket.recv())).get("id") != number:
            if got.get("method") == "log.entryAdded" and got["params"]["level"] == "error":
                self.errors.append(got["params"]["text"])
        assert got["type"] == "success", got
        return got["result"]

    def open(self, address: str) -> None:
        self._send("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def run(self, script: str):
        expression = AS_A_PROMISE % script
        where = {"target": {"context": self.tab}, "awaitPromise": True}
        got = self._send("script.evaluate", expression=expression, **where)
        assert got["type"] == "success", got
        return json.loads(got["result"]["value"])

    def press(self, keys: str) -> None:
        self._send("input.performActions", context=self.tab, actions=strokes(keys))

    def close(self) -> None:
        with contextlib.suppress(AssertionError, websocket.WebSocketException, OSError):
            self._send("browser.close")
        self.socket.close()
        stop(self.process)


class WebKit:
    """WebKitGTK by WebDriver, on a screen of its own."""

    # its driver tells no errors: from a page that is not there, the wanted one is written below a
    # script that notes them
    NOWHERE = ".nowhere"
    OPEN = """
      history.replaceState(null, "", location.href.replace(".nowhere", ""));
      const page = await (await fetch(location.href)).text();
      const notes = `<script>
        window.noted = [];
        console.error = (...words) => noted.push(words.join(" "));
        addEventListener("unhandledrejection", event => noted.push(String(event.reason)));
        addEventListener("error", ({message, target}) =>
          noted.push(message ?? "not found: " + (target.src ?? target.href)), true);
      <\\/script>`;
      document.open();
      document.write(page.replace("<head>", "<head>" + notes));
      const loaded = new Promise(done => addEventListener("load", done));
      document.close();
      await loaded;
    """

    def __init__(self):
        driver = program("WebKit", "WebKitWebDriver")
        browser = program("WebKit", "usr/lib/*/webkit2gtk-4*/MiniBrowser")
        self.screen = subprocess.Popen(
            [program("WebKit", "Xvfb"), "-displayfd", "1", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        screen = {"DISPLAY": f":{self.screen.stdout.readline().strip()}"}
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.driver = subprocess.Popen([driver, f"--port={port}"], env=os.environ | screen)
        self.address = f"http://127.0.0.1:{port}/session"
        wanted = {"binary": browser, "args": ["--automation"]}
        capabilities = {"alwaysMatch": {"webkitgtk:browserOptions": wanted}}
        self._wait_for_the_driver(port)
        self.address += "/" + self._send("", capabilities=capabilities)["sessionId"]

    def _wait_for_the_driver(self, port: int) -> None:
        def answers() -> bool:
            assert self.driver.poll() is None, "WebKitWebDriver ended before it could be spoken to"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return True
            return False

        wait_until(answers)

    def _send(self, command: str, method: str = "POST", **body):
        data = json.dumps(body).encode() if method == "POST" else None
        request = Request(self.address + command, data=data, method=method)
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def open(self, address: str) -> None:
        self._send("/url", url=address + self.NOWHERE)
        self.run(self.OPEN)

    def run(self, script: str):
        promise = AS_A_PROMISE % script
        answer = f"const done = arguments[0]; {promise}.then(done, error => done([String(error)]))"
        got = self._send("/execute/async", script=answer, args=[])
        assert isinstance(got, str), got
        return json.loads(got)

    def press(self, keys: str) -> None:
        self._send("/actions", actions=strokes(keys))

    @property
    def errors(self) -> list[str]:
        return self.run("return noted")

    def close(self) -> None:
        with contextlib.suppress(URLError):
            self._send("", method="DELETE")
        for process in (self.driver, self.screen):
            stop(process)
