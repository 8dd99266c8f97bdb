"""Who may talk to the studio, and what it answers to those who may not."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from torseur.errors import TorseurError
from torseur.presentation.studio.guard import Guard
from torseur.presentation.studio.server import Studio
from torseur.presentation.studio.session import Session

websockets = pytest.importorskip("websockets.sync.client", reason="needs torseur[studio]")


def get(
    address: str, path: str, host: str | None = None, method: str = "GET", **headers: str
) -> http.client.HTTPResponse:
    place = urlsplit(address)
    line = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    line.putrequest(method, path, skip_host=True)
    line.putheader("Host", place.netloc if host is None else host)
    for name, value in headers.items():
        line.putheader(name.replace("_", "-"), value)
    line.endheaders()
    return line.getresponse()


def connect(address: str, origin: str | None, path: str | None = None, **options):
    place = urlsplit(address)
    return websockets.connect(f"ws://{place.netloc}{path or place.path}socket", origin=origin, max_size=None, **options)


def own_origin(address: str) -> str:
    return f"http://{urlsplit(address).netloc}"


def test_the_page_and_its_files_are_served(address):
    root = urlsplit(address).path
    page = get(address, root)
    text = page.read().decode()
    assert page.status == 200 and "torseur studio" in text
    for path in (
        "colours.css",
        "report/assets/style.css",
        "studio/assets/studio.css",
        "studio/assets/js/main.js",
        "report/assets/js/shared/store.js",
    ):
        assert get(address, root + path).status == 200, path
    assert (
        get(address, root + "report/assets/font/stix-two-math-subset.woff2").getheader("content-type") == "font/woff2"
    )


def test_every_colour_that_scripts_ask_for_is_defined(address):
    root = urlsplit(address).path

    def served(path):
        return get(address, root + path).read().decode()

    styles = "".join(served(path) for path in ("colours.css", "report/assets/style.css", "studio/assets/studio.css"))
    wanted = set(re.findall(r'colour\("(--[\w-]+)"\)', served("report/assets/js/scene/stage.js")))
    assert len(wanted) > 3 and wanted <= set(re.findall(r"(--[\w-]+):", styles))


def test_a_server_that_ends_while_workers_start_cuts_the_conversation_quietly(tmp_path):
    class Page:
        """A page that asks one question and waits."""

        async def accept(self):
            pass

        async def send_text(self, text):
            pass

        async def receive_text(self):
            return json.dumps({"kind": "describe", "number": 1, "text": "mechanism nothing ;"})

    class Starting:
        """Workers that are never ready."""

        async def ask(self, request):
            self.asked.set()
            await asyncio.Event().wait()

    async def cut_short():
        studio = Studio(Session(None, folder=tmp_path), Guard("token", ("127.0.0.1",)))
        studio.crew = Starting()
        studio.crew.asked = asked = asyncio.Event()
        talk = asyncio.create_task(studio.converse(Page()))
        await asked.wait()
        talk.cancel()
        await talk
        return studio.page

    # In a thread of its own: the driver of a browser, where one is open, keeps a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(cut_short())).result() is None


def test_nothing_leaves_the_page_and_nothing_foreign_runs_in_it(address):
    page = get(address, urlsplit(address).path)
    policy = page.getheader("content-security-policy")
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and page.getheader("x-content-type-options") == "nosniff"
    assert page.getheader("referrer-policy") == "no-referrer" and page.getheader("cache-control") == "no-store"
    text = page.read().decode()
    assert "http://" not in text and "https://" not in text and "onclick" not in text


@pytest.mark.parametrize("path", ["/", "/wrong/", "//", "/../", "/x" * 2000])
def test_without_the_token_there_is_nothing(address, path):
    answer = get(address, path)
    assert answer.status == 404 and b"torseur studio" in answer.read()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8460", "", "127.0.0.1", "127.0.0.1.nip.io:8460"])
def test_a_foreign_host_is_refused(address, host):
    assert get(address, urlsplit(address).path, host=host).status in (400, 404)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1", "file://"])
def test_a_foreign_origin_is_refused(address, origin):
    assert get(address, urlsplit(address).path, Origin=origin).status == 404


def test_other_sites_may_link_but_not_load(address):
    root = urlsplit(address).path
    assert (
        get(address, root + "studio/assets/js/main.js", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status
        == 404
    )
    visit = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert get(address, root, **visit).status == 200


@pytest.mark.parametrize(
    "path",
    ["studio/assets/../server.py", "studio/assets/..%2fserver.py", "studio/assets/js/..%5c..%5cserver.py",
     "studio/assets/%2fetc%2fpasswd", "studio/server.py", "studio/assets/studio.html", "other/assets/js/main.js",
     "studio/assets/js", "report/assets/js/none.js", "studio/assets/js/main.js%00.css", "studio/assets/js/messages.d.ts"],
)  # fmt: skip
def test_only_the_files_of_the_page_are_served(address, path):
    answer = get(address, urlsplit(address).path + path)
    assert answer.status in (400, 404) and b"import" not in answer.read()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_pages_are_only_read(address, method):
    answer = get(address, urlsplit(address).path, method=method, Origin=own_origin(address))
    assert answer.status in (404, 405)


@pytest.mark.parametrize(
    ("origin", "path"),
    [("http://evil.example", None), (None, None), ("null", None), ("own", "/wrong-token/"), ("own", "/")],
)
def test_the_socket_is_closed_to_strangers(address, origin, path):
    from websockets.exceptions import InvalidStatus

    given = own_origin(address) if origin == "own" else origin
    with pytest.raises(InvalidStatus) as refused, connect(address, given, path):
        pass
    assert refused.value.response.status_code in (403, 404)


def test_a_page_is_greeted_and_answered(address):
    with connect(address, own_origin(address)) as socket:
        hello = json.loads(socket.recv(timeout=120))
        assert hello["kind"] == "hello" and "double_pendulum" in hello["state"]["text"]
        assert "recursive" in hello["formalisms"] and "scalar" in hello["levels"]
        socket.send(json.dumps({"kind": "describe", "number": 1, "text": hello["state"]["text"]}))
        kinds = [json.loads(socket.recv(timeout=120))["kind"] for _ in range(4)]
        assert kinds == ["faults", "outline", "equations", "done"]


@pytest.mark.parametrize(
    "message",
    ["", "x", "[]", "{}", '{"kind": "__import__"}', '{"kind": "describe"}', '{"kind": "keep", "state": {"text": 3}}',
     '{"kind": "describe", "number": 1, "text": 1}', '{"kind": "export", "number": 1, "what": "../../etc/passwd"}',
     '{"kind": "open", "number": 1, "what": "../../../etc/passwd"}', "[" * 5000],
)  # fmt: skip
def test_nonsense_is_refused_and_the_line_stays_open(address, message):
    with connect(address, own_origin(address)) as socket:
        socket.recv(timeout=120)
        socket.send(message)
        answer = json.loads(socket.recv(timeout=120))
        assert answer["kind"] == "refusal" and answer["reason"]
        socket.send(json.dumps({"kind": "keep", "state": {}}))
        while json.loads(socket.recv(timeout=120))["kind"] != "kept":
            pass


def test_a_message_that_is_far_too_long_ends_the_line_and_not_the_server(address):
    from websockets.exceptions import ConnectionClosed

    with pytest.raises(ConnectionClosed), connect(address, own_origin(address)) as socket:
        socket.recv(timeout=120)
        socket.send("x" * 8_000_000)
        socket.recv(timeout=120)
    assert get(address, urlsplit(address).path).status == 200


def test_the_newest_page_takes_over(address):
    from websockets.exceptions import ConnectionClosed

    with connect(address, own_origin(address)) as first, connect(address, own_origin(address)) as second:
        first.recv(timeout=120)
        second.recv(timeout=120)
        with pytest.raises(ConnectionClosed) as closed:
            while True:  # what was on its way to the first page still arrives
                first.recv(timeout=120)
        assert closed.value.rcvd.code == 4409
        second.send(json.dumps({"kind": "keep", "state": {"revision": 3}}))
        assert json.loads(second.recv(timeout=120))["kind"] == "kept"


def test_it_listens_on_this_machine_only(address):
    assert urlsplit(address).hostname == "127.0.0.1"


def test_what_cannot_be_opened_is_said(tmp_path):
    from torseur.presentation.studio.serving import begin

    for file, said in (
        ("library:four_bra", "four_bar"),
        (tmp_path, "folder"),
        (tmp_path / "no" / "a.lsd", "no folder"),
        ("arm.urdf", "cannot be read"),
    ):
        with pytest.raises(TorseurError, match=said):
            begin(file, tmp_path / "state")


def test_only_the_notebook_may_frame_the_page():
    """The policy names the origin of the notebook, and a frame is a visit only where there is one."""
    from torseur.presentation.studio.serving import origin_of

    headers = [
        (b"host", b"localhost:1"),
        (b"sec-fetch-site", b"cross-site"),
        (b"sec-fetch-mode", b"navigate"),
        (b"sec-fetch-dest", b"iframe"),
    ]
    scope = {"type": "http", "method": "GET", "path": "/secret/", "headers": headers}
    alone, framed = Guard("secret", ("localhost:1",)), Guard("secret", ("localhost:1",), ("http://localhost:8888",))
    assert framed.permits(scope) and not alone.permits(scope)
    assert framed.headers("n")["Content-Security-Policy"].endswith("frame-ancestors http://localhost:8888")
    assert "X-Frame-Options" not in framed.headers("n") and alone.headers("n")["X-Frame-Options"] == "DENY"
    assert origin_of("http://LocalHost:8888/lab?token=1") == "http://localhost:8888"
    for wrong in ("localhost:8888", "http://a b", "http://x;y", "javascript:alert(1)"):
        with pytest.raises(TorseurError, match="expected the address of the notebook"):
            origin_of(wrong)
