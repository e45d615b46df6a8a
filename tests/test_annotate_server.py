"""The server of the page: a real one, asked by friends, strangers and those who mean harm."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spacy_iobes import Span
from spacy_iobes.selection import Session

from .served import Served, Server, here, served
from .shared import require_heeded
from .small_sessions import gold_of, sentences, small

LABELS = ("PER", "LOC")
FILES = ("/", "/page.css", "/page.js", "/plot.js", "/sentence.js", "/server.js", "/icon.svg")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One that nobody makes a decision with."""
    folder = tmp_path_factory.mktemp("server") / "state"
    with here(small(folder, 12)) as found:
        yield found
        assert found.state()["number"] == 1, "somebody has decided something"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """One for decisions."""
    with here(small(tmp_path / "state", 30)) as found:
        yield found


def decision(**other: Any) -> dict[str, Any]:
    return {"number": 1, "sentence": 0, "answer": "accept", "spans": [], **other}


def test_the_page_opens_with_the_key_and_keeps_it_in_a_cookie(server: Served) -> None:
    status, page, headers = server.ask(f"/?token={server.token}", headers={"Cookie": None})
    assert status == 200
    assert page.startswith("<!doctype html>")
    cookie = headers["Set-Cookie"]
    assert cookie.startswith(f"spacy-iobes-{server.port}={server.token};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    for path in FILES:
        status, _, headers = server.ask(path)
        assert (status, headers["Set-Cookie"]) == (200, None)


def test_every_answer_is_closed_to_other_pages(server: Served) -> None:
    for path in (*FILES, "/api/state", "/nothing"):
        for cookie in ({}, {"Cookie": None}):
            _, _, headers = server.ask(path, headers=cookie)
            policy = headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert headers["Cache-Control"] == "no-store"
            assert "Access-Control-Allow-Origin" not in headers
            assert "Server" not in headers


@pytest.mark.parametrize("path", [*FILES, "/api/state", "/api/decide", "/nothing", "/..%2f"])
def test_nothing_is_told_without_the_key(server: Served, path: str) -> None:
    wrong = "A" * len(server.token)
    other = f"spacy-iobes-{server.port + 1}={server.token}"
    for headers in (
        {"Cookie": None},
        {"Cookie": f"spacy-iobes-{server.port}={wrong}"},
        {"Cookie": f"spacy-iobes-{server.port}="},
        {"Cookie": other},
        {"Cookie": None, "X-Token": wrong},
        {"Cookie": None, "X-Token": "é"},
    ):
        status, answer, _ = server.ask(path, headers=headers)
        assert status == 403
        assert "needs its key" in str(answer)
    for key in (wrong, "", server.token[:-1], "%C3%A9"):
        assert server.ask(f"{path}?token={key}", headers={"Cookie": None})[0] == 403
    if path != "/":
        right = f"{path}?token={server.token}"
        assert server.ask(right, headers={"Cookie": None})[0] == 403  # it opens the page alone


def test_scripts_may_have_the_key_in_a_header(server: Served) -> None:
    headers = {"Cookie": None, "X-Token": server.token}
    assert server.ask("/api/state", headers=headers)[0] == 200
    bare = {**headers, "Origin": None}
    assert server.ask("/api/undo", {"number": 7}, headers=bare)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{}", "[", ""]
)
def test_other_hosts_are_refused(server: Served, host: str) -> None:
    """A name of somebody else that leads here (DNS rebinding) is not ours."""
    headers = {"Host": host.format(server.port)}
    assert server.ask("/api/state", headers=headers)[0] in (400, 403)
    assert server.ask(f"/?token={server.token}", headers=headers)[0] in (400, 403)
    local = {"Host": f"localhost:{server.port}"}
    assert server.ask("/api/state", headers=local)[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{}", ""]
)
def test_other_origins_are_refused(server: Served, origin: str) -> None:
    headers = {"Origin": origin.format(server.port)}
    for path, body in (("/api/state", None), ("/api/decide", decision()), ("/", None)):
        status, _, found = server.ask(path, body, headers)
        assert status == 403
        assert "Set-Cookie" not in found
    assert server.ask(f"/?token={server.token}", headers=headers)[0] == 403


def test_a_forged_form_is_refused(server: Served) -> None:
    """What a page elsewhere can send without asking: simple requests with our cookie."""
    for headers in (
        {"Origin": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site"},
    ):
        assert server.ask("/api/decide", decision(), headers)[0] == 403
    kinds = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "")
    for kind in kinds:
        assert server.ask("/api/decide", decision(), {"Content-Type": kind})[0] == 415


@pytest.mark.parametrize(
    "path",
    [
        "/../settings.json",
        "/..%2fsettings.json",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/page.html",
        "/app.py",
        "/page.css/../app.py",
        "//etc/passwd",
        "/api/../decisions.jsonl",
        "/decisions.jsonl",
        "/address.json",
        "/..\\settings.json",
        "/page.css%00.py",
        "/api/state/",
        "/api",
    ],
)
def test_there_is_nothing_but_what_is_named(server: Served, path: str) -> None:
    status, answer, _ = server.ask(path)
    assert status in (404, 307)
    assert server.token not in str(answer)
    assert "root:" not in str(answer)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"])
def test_other_methods_are_refused(server: Served, method: str) -> None:
    assert server.ask("/api/decide", decision(), method=method)[0] in (403, 405)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"", 400, "no JSON"),
        (b"{", 400, "no JSON"),
        (b"\xff\xfe", 400, "no JSON"),
        (b"[" * 100_000, 400, "no JSON"),
        (b'{"number": ' + b"9" * 10_000 + b"}", 400, "no JSON"),
        (b"[]", 400, "a JSON object"),
        (b'"accept"', 400, "a JSON object"),
        (b"NaN", 400, "a JSON object"),
        ({}, 422, "'number' has to be a whole number"),
        (decision(number="1"), 422, "'number'"),
        (decision(number=1.0), 422, "'number'"),
        (decision(number=True), 422, "'number'"),
        (decision(sentence=None), 422, "'sentence'"),
        (decision(sentence=12), 422, "no sentence 12"),
        (decision(sentence=-1), 422, "no sentence -1"),
        (decision(answer=None), 422, "'answer' has to be a string"),
        (decision(answer="maybe"), 422, "Unknown answer 'maybe'"),
        (decision(spans={}), 422, "'spans' a list"),
        (decision(spans=["abc"]), 422, "is no span"),
        (decision(spans=[[0, 1]]), 422, "is no span"),
        (decision(spans=[[0, 1, "PER", 3]]), 422, "is no span"),
        (decision(spans=[{"start": 0}]), 422, "is no span"),
        (decision(spans=[[0, 999, "PER"]]), 422, "no part of a sentence of"),
        (decision(spans=[[-1, 1, "PER"]]), 422, "no part of a sentence of"),
        (decision(spans=[[1, 1, "PER"]]), 422, "no part of a sentence of"),
        (decision(spans=[[0.5, 1, "PER"]]), 422, "no part of a sentence of"),
        (decision(spans=[[0, 1, "DOG"]]), 422, "Unknown label 'DOG'. Known: PER, LOC"),
        (decision(spans=[[0, 1, None]]), 422, "Unknown label"),
        (decision(spans=[[0, 1, "PER"], [0, 1, "PER"]]), 422, "there twice"),
        (decision(spans=[[0, 2, "PER"], [1, 3, "LOC"]]), 422, "share a token"),
        (decision(number=2), 409, "not the next one, which is 1"),
        (decision(number=0), 409, "not the next one"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_a_reason(
    server: Served, body: object, status: int, reason: str
) -> None:
    found, answer, _ = server.ask("/api/decide", body)
    assert found == status
    assert reason in answer["error"]


BEGINNING = (
    "POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT\r\n"
    "X-Token: TOKEN\r\nContent-Type: application/json\r\n"
)


def test_a_hundred_megabytes_are_refused_unread(server: Served) -> None:
    """The answer is there before the body is, and however it is sent."""
    hundred = 100 << 20
    head = [
        "POST /api/decide HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Origin: http://127.0.0.1:{server.port}",
        f"X-Token: {server.token}",
        "Content-Type: application/json",
    ]
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        lines = [*head, f"Content-Length: {hundred}", "", ""]
        client.sendall("\r\n".join(lines).encode())  # and not one byte of the body
        assert client.recv(100).startswith(b"HTTP/1.1 413")
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall("\r\n".join([*head, "Transfer-Encoding: chunked", "", ""]).encode())
        sent, block = 0, b" " * 65536
        try:
            while sent < hundred:
                client.sendall(b"10000\r\n" + block + b"\r\n")
                sent += len(block)
        except OSError:  # it does not listen any more
            pass
    assert sent < hundred // 2
    assert server.state()["number"] == 1


def test_lengths_that_are_none(server: Served) -> None:
    for length in ("-1", "abc", "9" * 30):
        request = (
            f"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Cookie: spacy-iobes-{server.port}={server.token}\r\n"
            f"Origin: http://127.0.0.1:{server.port}\r\nContent-Length: {length}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            client.sendall(request.encode())  # no body: what is not read may reset the connection
            assert client.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 413")


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ("", False),
        ("GET / HTTP/1.1\r\nHost: 127", False),
        (f"{BEGINNING}Content-Length: 20\r\n\r\n{{", False),
        (f"{BEGINNING}Transfer-Encoding: chunked\r\n\r\n5\r\n{{", False),
        ("GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\nGET / HT", True),
    ],
    ids=["nothing", "head", "body", "chunk", "second"],
)
def test_connections_that_send_half_a_request_are_closed(
    sent: str,
    answered: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("spacy_iobes.web.server.PATIENCE", 0.2)
    with here(small(tmp_path / "state", 30)) as server:
        request = sent.replace("PORT", str(server.port)).replace("TOKEN", server.token)
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            client.sendall(request.encode())
            answer = b""
            try:
                while more := client.recv(1 << 16):
                    answer += more
            except ConnectionResetError:
                pass
        monkeypatch.undo()  # a busy machine may need longer to ask
        assert answer.startswith(b"HTTP/1.1 ") == answered
        assert server.state()["number"] == 1
    assert capfd.readouterr().err == ""


def test_it_listens_on_this_machine_alone(server: Served) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(5)
        assert probe.connect_ex(("127.0.0.1", server.port)) == 0
    if sys.platform == "linux":  # what the system says of the socket
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        here = [row[1] for row in rows if row[1].endswith(f":{server.port:04X}") and row[3] == "0A"]
        assert here == [f"0100007F:{server.port:04X}"]


def test_a_decision_is_on_disk_before_it_is_acknowledged(fresh: Served, tmp_path: Path) -> None:
    gold = gold_of(sentences(30), LABELS)
    for number in range(1, 31):
        state = fresh.state()
        while state["task"] is None:
            state = fresh.state()
        sentence = state["task"]["sentence"]
        body = decision(number=number, sentence=sentence, spans=[list(s) for s in gold[sentence]])
        status, answer, _ = fresh.ask("/api/decide", body)
        assert (status, answer["number"], answer["last"]) == (200, number + 1, number)
        with Session.look(tmp_path / "state") as seen:
            assert (seen.decisions[-1].sentence, list(seen.decisions[-1].spans)) == (
                sentence,
                gold[sentence],
            )
    assert fresh.state()["progress"]["finished"]


def test_a_decision_that_is_sent_twice_is_taken_once(fresh: Served) -> None:
    state = fresh.state()
    body = decision(sentence=state["task"]["sentence"])
    for _ in range(3):
        status, answer, _ = fresh.ask("/api/decide", body)
        assert (status, answer["number"]) == (200, 2)
    assert fresh.ask("/api/decide", {**body, "answer": "reject"})[0] == 409
    for _ in range(2):
        status, answer, _ = fresh.ask("/api/undo", {"number": 1})
        assert (status, answer["last"], answer["number"]) == (200, None, 2)
        assert answer["task"] == state["task"]
    assert fresh.ask("/api/decide", body)[0] == 409  # it was taken back
    assert fresh.ask("/api/undo", {"number": "1"})[0] == 422


def test_what_was_undone_comes_back_with_its_answer(fresh: Served) -> None:
    state = fresh.state()
    sentence = state["task"]["sentence"]
    fresh.ask("/api/decide", decision(sentence=sentence, spans=[[0, 1, "PER"]]))
    _, answer, _ = fresh.ask("/api/undo", {"number": 1})
    assert answer["undone"]["sentence"] == sentence
    assert answer["undone"]["spans"] == [[0, 1, "PER"]]


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_it_ends_when_it_is_asked_to(tmp_path: Path, name: str, code: int) -> None:
    require_heeded(name)
    small(tmp_path / "state", 30).close()
    with served(tmp_path / "state") as server:
        server.ask("/api/decide", decision())
        server.ask("/nothing")
        found, errors = server.end(getattr(signal, name))
    assert found == code
    assert errors.splitlines() == [
        "Ctrl-C ends this. Every answer is on disk already.",
        f"{tmp_path / 'state'}: 1 of 30 sentences read, 0 mentions",
    ]
    Session.open(tmp_path / "state").close()


def test_killed_it_comes_back_at_the_same_address_with_all_that_was_said(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    small(folder, 30).close()
    with served(folder) as server:
        for number in (1, 2, 3):
            body = decision(number=number, sentence=server.state()["task"]["sentence"])
            assert server.ask("/api/decide", body)[0] == 200
        before = server.state()
        server.end(signal.SIGKILL)
        url = server.url
    with served(folder) as again:
        assert again.url == url
        after = again.state()
        assert (after["number"], after["last"]) == (4, 3)
        assert after["task"]["sentence"] == before["task"]["sentence"]
        assert again.ask("/api/decide", body)[0] == 200  # the last one, sent again
        assert again.state()["number"] == 4


def test_the_key_is_a_secret_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    small(folder, 12).close()
    with served(folder) as server:
        path = folder / "address.json"
        assert json.loads(path.read_text()) == {"port": server.port, "token": server.token}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(server.token) >= 43  # 32 bytes
        server.end(signal.SIGTERM)
    path.write_text('{"port": "?", "token": "short"}')
    with served(folder) as other:
        assert other.token != server.token
        assert len(other.token) >= 43


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    small(tmp_path / "state", 12).close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AssertionError, match=f"Port {port} of 127.0.0.1: address already"):
            Server(tmp_path / "state", "--port", port)
        with served(tmp_path / "state") as server:
            assert server.port != port


def test_a_second_server_is_refused(fresh: Served, tmp_path: Path) -> None:
    assert fresh.port
    with pytest.raises(AssertionError, match=f"in use by process {os.getpid()}"):
        Server(tmp_path / "state")


def test_nested_mentions_may_cross(tmp_path: Path) -> None:
    spans: list[list[Any]] = [[0, 2, "PER"], [1, 3, "LOC"], [0, 3, "PER"], [0, 3, "LOC"]]
    with here(small(tmp_path / "state", 12, nested=True)) as server:
        assert server.ask("/api/decide", decision(spans=spans))[0] == 200
        assert server.ask("/api/decide", decision(number=2, spans=spans[:1] * 2))[0] == 422
    with Session.look(tmp_path / "state") as session:
        assert list(session.decisions[0].spans) == sorted(Span(*span) for span in spans)
