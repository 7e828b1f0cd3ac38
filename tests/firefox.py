"""Firefox by WebDriver BiDi, which it speaks itself: no driver stands between. Only what the tests need."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

TIMEOUT_S = 90
# It asks its maker for nothing while it runs.
QUIET = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


def path() -> str:
    """The program's; empty where there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox") or ""


class Firefox:
    """One tab, and what its console and its requests said since the last page was opened."""

    def __init__(self, socket: ClientConnection):
        self._socket = socket
        self._numbers = itertools.count(1)
        self.faults: list[str] = []
        self.tell("session.new", capabilities={})
        self.tell("session.subscribe", events=["log.entryAdded", "network.responseCompleted", "network.fetchError"])
        self._tab = self.tell("browsingContext.getTree")["contexts"][0]["context"]

    def tell(self, method: str, **params: Any) -> Any:
        """The answer to a command; what happens meanwhile is noted."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        end = time.monotonic() + TIMEOUT_S
        while True:
            said = json.loads(self._socket.recv(timeout=max(0, end - time.monotonic())))
            if said["type"] == "event":
                self._note(said["method"], said["params"])
            elif said["id"] == number:
                assert said["type"] == "success", said
                return said["result"]

    def _note(self, event: str, said: dict[str, Any]) -> None:
        if event == "log.entryAdded":
            if said["level"] in ("error", "warn"):
                self.faults.append(f"console {said['level']}: {said['text']}")
        elif event == "network.fetchError":
            if said["errorText"] != "NS_BINDING_ABORTED":  # The page before was left while it asked for something.
                self.faults.append(f"{said['errorText']}: {said['request']['url']}")
        elif said["response"]["status"] >= 400:
            self.faults.append(f"status {said['response']['status']}: {said['request']['url']}")

    def open(self, url: str) -> None:
        self.faults.clear()
        self.tell("browsingContext.navigate", context=self._tab, url="about:blank", wait="complete")
        # Firefox does not always answer that a page was loaded which changes its own address meanwhile.
        self.tell("browsingContext.navigate", context=self._tab, url=url, wait="none")
        self.until("location.href != 'about:blank' && document.readyState == 'complete'")

    def run_first(self, function: str) -> None:
        """Call a function in every page from now on, before its own scripts run."""
        self.tell("script.addPreloadScript", functionDeclaration=function)

    def evaluate(self, script: str) -> Any:
        """What the expression, or its promise, comes to: a text, a number, yes or no."""
        target = {"context": self._tab}
        answer = self.tell("script.evaluate", expression=script, target=target, awaitPromise=True)
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def until(self, script: str) -> Any:
        """What the expression comes to once that is something; asked whenever the page was drawn anew."""
        drawn = "await new Promise(requestAnimationFrame)"
        return self.evaluate(f"(async () => {{ for (;;) {{ const it = {script}; if (it) return it; {drawn}; }} }})()")


@contextmanager
def firefox(folder: Path, prefs: dict[str, object]) -> Iterator[Firefox]:
    """A fresh Firefox, its profile in the folder."""
    settings = "".join(
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in (QUIET | prefs).items()
    )
    (folder / "user.js").write_text(settings, encoding="utf-8")
    # Without a screen it has no WebGL; xvfb-run gives it one that nobody sees.
    command = ["xvfb-run", "--auto-servernum", path(), "--no-remote", "--profile", str(folder)]
    command += ["--remote-debugging-port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as program:
        try:
            assert program.stdout
            found = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in program.stdout)
            address = next(match[1] for match in found if match)
            # Nobody reads what else it says, but it must not wait for that.
            threading.Thread(target=program.stdout.read, daemon=True).start()
            with connect(f"{address}/session", max_size=None, proxy=None) as socket:
                browser = Firefox(socket)
                yield browser
                browser.tell("browser.close")
            program.wait(TIMEOUT_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGTERM)
