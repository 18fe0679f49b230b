"""Downloads from a server that misbehaves."""

import gzip
import hashlib
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from misbehaving_server import NETWORK, PIECE, SHA256, Server, running_server

from gtp_engine.base.errors import UserError
from gtp_engine.nets import download as downloads
from gtp_engine.nets.download import Source, download, file_name_of, take
from gtp_engine.nets.katago_file import read_katago_file


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(downloads, "_WAITS", (0.0,))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with running_server() as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "networks" / "net.bin.gz"


def left(path: Path) -> set[str]:
    """The visible files of the folder."""
    return {file.name for file in path.parent.iterdir() if not file.name.startswith(".")}


@pytest.mark.parametrize("kind", ["good", "moved", "digits"])
def test_a_network_is_there_once_it_is_complete(server: Server, path: Path, kind: str) -> None:
    seen: list[tuple[int, int | None]] = []
    download(Source(server.url(kind), SHA256), path, lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == NETWORK and left(path) == {path.name}
    total = None if kind == "digits" else len(NETWORK)
    assert seen[0] == (0, total) and seen[-1] == (len(NETWORK), total)


def test_a_checksum_may_be_that_of_the_content(server: Server, path: Path) -> None:
    download(Source(server.url("good"), hashlib.sha256(gzip.decompress(NETWORK)).hexdigest()), path)
    assert path.is_file()


def test_what_was_cut_goes_on_where_it_was(server: Server, path: Path) -> None:
    server.cuts = 3
    download(Source(server.url("cut"), SHA256), path)
    assert path.read_bytes() == NETWORK
    assert [asked for _, asked in server.asked] == ["", "bytes=1000-", "bytes=2000-", "bytes=3000-"]


def test_a_silent_server_is_asked_again(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "_SILENCE", 0.2)
    server.cuts = 1
    download(Source(server.url("slow"), SHA256), path)
    assert [asked for _, asked in server.asked] == ["", "bytes=1000-"]


def test_an_interrupted_download_is_resumed_by_the_next_one(server: Server, path: Path) -> None:
    def stop(done: int, total: int | None) -> None:
        if done >= PIECE:
            raise KeyboardInterrupt

    server.cuts = 1
    with pytest.raises(KeyboardInterrupt):
        download(Source(server.url("cut")), path, stop)
    assert left(path) == {"net.bin.gz.part"}
    download(Source(server.url("cut")), path)
    assert path.read_bytes() == NETWORK and left(path) == {path.name}
    assert server.asked[-1][1] == "bytes=1000-"


@pytest.mark.parametrize("sha256", [SHA256, ""])
@pytest.mark.parametrize("rest", [b"\x1f\x8b" + bytes(PIECE), NETWORK[:PIECE] + b"x", NETWORK + b"other"])
def test_the_rest_of_another_file_is_loaded_as_a_whole(server: Server, path: Path, sha256: str, rest: bytes) -> None:
    path.parent.mkdir()
    Path(f"{path}.part").write_bytes(rest)
    download(Source(server.url("good"), sha256), path)
    assert path.read_bytes() == NETWORK and left(path) == {path.name}
    assert [asked for _, asked in server.asked] == [f"bytes={len(rest)}-", ""]


def test_a_complete_part_is_taken(server: Server, path: Path) -> None:
    path.parent.mkdir()
    Path(f"{path}.part").write_bytes(NETWORK)
    download(Source(server.url("good"), SHA256), path)
    assert path.read_bytes() == NETWORK and len(server.asked) == 1


def test_what_nothing_could_check_is_not_resumed(server: Server, path: Path) -> None:
    path = path.with_name("net.bin")
    path.parent.mkdir()
    Path(f"{path}.part").write_bytes(NETWORK[:PIECE])
    server.cuts = 9
    with pytest.raises(UserError, match=r"failed: it was cut; run the same command again$"):
        download(Source(server.url("cut")), path)
    assert left(path) == {"net.bin.part"}
    server.asked.clear()
    download(Source(server.url("good")), path)
    assert [asked for _, asked in server.asked] == [""]


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("gone", "the server answers 404 Not Found; the network is no longer there"),
        ("page", r"a page came instead of a file \(text/html\)"),
        ("damaged", "the checksum is [0-9a-f]{64} instead of"),
        ("huge", r"it has more than 1.0 MB: this is not the network"),
        ("endless", r"it has more than 1.0 MB: this is not the network"),
        ("circle", "the server answers 302"),
        ("astray", "the server leads to an invalid address"),
        ("ftp", r"the server leads to 'ftp://127\.0\.0\.1/net\.bin\.gz', which is not an address"),
        ("rest", "the server answers 416 Requested Range Not Satisfiable"),
        ("prose", r"failed: HELLO x{194}; HTTPS_PROXY"),
        ("elsewhere", r"elsewhere/net\.bin\.gz: the connection to 127\.0\.0\.1:1 failed: Connection refused"),
        ("bomb", "the checksum is [0-9a-f]{64} instead of"),
    ],
)
def test_what_is_no_network_leaves_nothing(server: Server, path: Path, kind: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem) as refusal:
        download(Source(server.url(kind), SHA256, 1_000_000), path)
    assert "\n" not in str(refusal.value) and str(refusal.value).count(server.url(kind)) <= 1
    assert left(path) == set()


def test_without_a_checksum_the_network_is_read(server: Server, path: Path) -> None:
    with pytest.raises(UserError, match=r"net\.bin\.gz: the file is (damaged|cut short)"):
        download(Source(server.url("damaged")), path)
    assert left(path) == set()


def test_a_server_that_sends_drops_is_given_up(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "_SPAN", 0.3)
    with pytest.raises(
        UserError, match=r"the server sent \d+ bytes in 0 seconds; run the same command again to resume after 0 kB"
    ):
        download(Source(server.url("drops"), SHA256), path)
    assert len(server.asked) == 1 and left(path) == {"net.bin.gz.part"}


def test_a_byte_with_each_connection_is_too_little(server: Server, path: Path) -> None:
    with pytest.raises(UserError, match=r"failed: it was cut; run the same command again to resume after 0 kB"):
        download(Source(server.url("crumbs"), SHA256), path)
    assert len(server.asked) == 5


@pytest.mark.parametrize("kind", ["headers", "chunk"])
def test_what_is_not_content_must_come_soon(
    server: Server, path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(downloads, "_PATIENCE", 0.5)
    with pytest.raises(UserError, match=r"failed: it was cut; HTTPS_PROXY"):
        download(Source(server.url(kind), SHA256), path)
    assert len(server.asked) == 2


def test_no_more_of_a_bomb_is_unpacked_than_a_network_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bomb.bin.gz"
    file.write_bytes(gzip.compress(bytes(30_000_000)))
    read = []
    digest = hashlib.sha256

    class Counting:
        def __init__(self) -> None:
            self._digest = digest()

        def update(self, data: bytes) -> None:
            read.append(len(data))
            self._digest.update(data)

        def hexdigest(self) -> str:
            return self._digest.hexdigest()

    monkeypatch.setattr(downloads.hashlib, "sha256", Counting)
    downloads._checksums(file)
    assert 0 < sum(read) <= 20 * file.stat().st_size


def test_letters_of_other_scripts_are_asked_for(server: Server, path: Path) -> None:
    url = server.url("good").replace("net.bin.gz", "\u56f2 1.bin.gz")
    download(Source(url, SHA256), path)
    assert path.is_file() and server.asked[0][0].endswith("/%E5%9B%B2%201.bin.gz")


def test_a_wrong_length_ends_after_a_few_attempts(server: Server, path: Path) -> None:
    with pytest.raises(UserError, match=r"failed: it was cut; run the same command again to resume after \d+ kB"):
        download(Source(server.url("short"), SHA256), path)
    assert len(server.asked) <= 8 and "net.bin.gz" not in left(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_named(server: Server, path: Path) -> None:
    path.parent.mkdir()
    Path(f"{path}.part").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"\.part: No space left on device; make room, then run the same command"):
        download(Source(server.url("good"), SHA256), path)


def test_proxies_are_those_of_the_variables(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_address[1]}")
    download(Source("http://networks.invalid/good/net.bin.gz", SHA256), path)
    assert server.asked == [("http://networks.invalid/good/net.bin.gz", "")]
    monkeypatch.setenv("no_proxy", "networks.invalid")
    with pytest.raises(
        UserError, match=r"the connection to networks\.invalid failed: .*; HTTPS_PROXY can name a proxy"
    ):
        download(Source("http://networks.invalid/good/net.bin.gz"), path.with_name("other.bin.gz"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_certificates_are_those_of_the_variable(
    server: Server, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
    ]
    subprocess.run([*command, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    source = Source(server.url("good").replace("http:", "https:"), SHA256)
    with pytest.raises(UserError, match=r"the certificate of 127\.0\.0\.1:\d+ is not trusted \(.*; SSL_CERT_FILE can"):
        download(source, path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    download(source, path)
    assert path.read_bytes() == NETWORK
    with pytest.raises(UserError, match="leads to an address without encryption"):
        download(Source(source.url.replace("good", "moved")), path.with_name("moved.bin.gz"))


def test_two_programs_do_not_load_the_same(server: Server, path: Path) -> None:
    problems: list[str] = []

    def again(done: int, total: int | None) -> None:
        try:
            download(Source(server.url("good")), path)
        except UserError as error:
            problems.append(str(error))

    download(Source(server.url("good"), SHA256), path, again)
    assert "is being downloaded by another program" in problems[0]


def test_a_file_is_taken_once_it_is_checked(tmp_path: Path, path: Path) -> None:
    (own := tmp_path / "own.gz").write_bytes(NETWORK)
    with pytest.raises(UserError, match="the checksum is"):
        take(own, path, "0" * 64)
    assert not path.parent.exists()
    take(own, path, SHA256)
    assert read_katago_file(path).config.version and left(path) == {path.name}


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a/b.bin.gz",
        "file:///etc/passwd",
        "b.bin.gz",
        "https:///b.bin.gz",
        "https://[::1/x.bin.gz",
        "https://a:99999/x.bin.gz",
        "://x.bin.gz",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UserError, match="is not an address"):
        Source(url)


@pytest.mark.usefixtures("server")
def test_a_name_that_no_server_can_have_is_no_fault_of_a_server(path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.\.b/x\.bin\.gz: the name of the server, or of the proxy, is invalid"):
        download(Source("http://a..b/x.bin.gz"), path)


def test_names_come_from_addresses() -> None:
    assert file_name_of("https://a/b/kata1-b18.bin.gz?raw=true") == "kata1-b18.bin.gz"
    for url in (
        "https://a/b/",
        "https://a/.bin.gz",
        "https://a/%2e%2e%2fx.bin.gz",
        "https://a/x.html",
        "https://a/x.pt",
    ):
        with pytest.raises(UserError, match="does not end in the name"):
            file_name_of(url)
