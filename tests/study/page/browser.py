"""A headless Chromium, driven over a pair of pipes by its DevTools protocol. Python's own library is enough."""
import json
import os
import select
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Enter": 13, " ": 32, "Escape": 27}


class Browser:
    """One page in one browser; what the page asks for, logs and throws is kept in `requests` and `complaints`."""

    def __init__(self, program, patience=60):
        self.patience = patience  # seconds for one answer
        self.profile = tempfile.TemporaryDirectory(prefix="heed-page-", ignore_cleanup_errors=True)
        self.requests, self.complaints = [], []
        self.buffer, self.last_id, self.session = b"", 0, None
        self._start(program)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.send(f"{domain}.enable")

    def _start(self, program):
        from_us, self.output = os.pipe()
        self.input, to_us = os.pipe()

        def as_three_and_four():
            # Away from 3 and 4 first, in case one of them is the other's place.
            read, write = os.dup2(from_us, 30), os.dup2(to_us, 31)
            os.dup2(read, 3), os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.profile.name}"], preexec_fn=as_three_and_four,
            close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us), os.close(to_us)

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.output), os.close(self.input)
        self.profile.cleanup()

    def _message(self):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], self.patience)[0]:
                raise TimeoutError("the browser took too long")
            chunk = os.read(self.input, 1 << 20)
            if not chunk:
                raise EOFError("the browser ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(arg.get("value")) for arg in params["args"]))

    def send(self, method, **params):
        self.last_id += 1
        call = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.output, json.dumps(call).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def run(self, script):
        """What an expression of the page's language is worth."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def open(self, path, width=1280, height=900, dark=False):
        """Opens a file and returns the milliseconds until its script had drawn everything."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.requests.clear()
        self.complaints.clear()
        start = time.monotonic()
        self.send("Page.navigate", url=path.absolute().as_uri())
        while not self.run("document.documentElement?.dataset.ready === 'true' && document.readyState === 'complete'"):
            if self.complaints:
                raise RuntimeError(self.complaints[0])
            time.sleep(0.01)
        return 1000 * (time.monotonic() - start)

    def key(self, name):
        for kind in ["rawKeyDown", "keyUp"]:
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS[name])

    def point(self, selector, dx=0, dy=0):
        """Moves the pointer over the middle of an element, or away from it."""
        x, y = self.run(
            "(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center'});"
            "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()"
            % json.dumps(selector))
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx, y=y + dy)
        return x + dx, y + dy

    def click(self, selector):
        x, y = self.point(selector)
        for kind in ["mousePressed", "mouseReleased"]:
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, whole=True):
        """The page as base64 of a PNG."""
        return self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
