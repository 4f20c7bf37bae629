"""HTTP servers that attack their client, byte by byte, and the attacks."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

# Each connection serves one request.
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BLOCK = b"x" * 65_536
# A server that sends one byte and then waits this long keeps every time-out of its client from firing.
DRIP_S = 0.02

Script = Callable[[], Iterator[bytes]]


@dataclass
class HostileServer:
    """Answers each connection with the bytes of a script, whatever is asked.

    :param script: makes the bytes; a script that ends closes the connection
    :param is_deaf: read nothing of the request
    :param sent: bytes that were sent
    :param connections: connections that were accepted
    :param heard: the first bytes of each request
    """

    script: Script
    is_deaf: bool = False
    sent: int = 0
    connections: int = 0
    heard: list[bytes] = field(default_factory=list)

    def __enter__(self) -> HostileServer:
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._threads:
            each.join()

    @property
    def port(self) -> int:
        """The port on loopback."""
        return int(self._listener.getsockname()[1])

    def drip(self, data: bytes) -> Iterator[bytes]:
        """Yield a text byte by byte, and its last byte for ever, with a pause before each."""
        while not self._over.wait(DRIP_S):
            yield data[:1]
            data = data[1:] or data

    def silence(self) -> Iterator[bytes]:
        """Yield nothing until the end."""
        self._over.wait()
        yield from ()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._threads.append(threading.Thread(target=self._attack, args=(connection,), daemon=True))
            self._threads[-1].start()

    def _attack(self, connection: socket.socket) -> None:
        with connection:
            # A client that ends the connection also ends the attack.
            connection.settimeout(5)
            try:
                if not self.is_deaf:
                    self.heard.append(connection.recv(65_536))
                for part in self.script():
                    if self._over.is_set():
                        return
                    connection.sendall(part)
                    self.sent += len(part)
            except OSError:
                return


def once(data: bytes) -> Script:
    """Return a script that sends this and ends."""
    return lambda: iter((data,))


def for_ever(head: bytes, part: bytes) -> Script:
    """Return a script that sends a head and then the same part again and again."""

    def script() -> Iterator[bytes]:
        yield head
        while True:
            yield part

    return script


def encoded(name: bytes, body: bytes) -> Script:
    """Return a script whose answer names a content encoding."""
    head = OK + b"Content-Encoding: " + name + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
    return once(head + body)


@cache
def bomb(levels: int) -> bytes:
    """Return 64 MiB of blanks after a JSON document, compressed this many times."""
    if levels > 1:
        return gzip.compress(bomb(levels - 1))
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(b"{}") + b"".join(packer.compress(b" " * 2**20) for _ in range(64)) + packer.flush()


def packed(name: bytes, levels: int) -> Script:
    """Return a script that names an encoding and sends the bomb, which is made when it is sent."""
    return lambda: encoded(name, bomb(levels))()


def redirect(status: int, to: str) -> Script:
    """Return a script that leads elsewhere."""
    return once(f"HTTP/1.1 {status} Moved\r\nConnection: close\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode())


ENCODING, LARGE, HEADERS, BROKEN = "content encoding", "more than", "bytes of headers", "did not answer"
# Attacks that end by themselves or by a bound on bytes: the script, and what the error says.
FLOODS: dict[str, tuple[Script, str]] = {
    "gzip": (packed(b"gzip", 1), ENCODING),
    "gzip twice": (packed(b"gzip, gzip", 2), ENCODING),
    "gzip three times": (packed(b"gzip, gzip, gzip", 3), ENCODING),
    "gzip in two headers": (packed(b"identity\r\ncontent-encoding:\t GZip ", 1), ENCODING),
    "x-gzip": (packed(b"x-gzip", 1), ENCODING),
    "deflate": (encoded(b"deflate", zlib.compress(BLOCK)), ENCODING),
    "br": (encoded(b"br", b"{}"), ENCODING),
    "zstd": (encoded(b"zstd", b"{}"), ENCODING),
    "unknown encoding": (encoded(b"\xff\x1b[31m" * 1000, b"{}"), ENCODING),
    "gzip as transfer encoding": (lambda: iter((OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + bomb(1),)), BROKEN),
    "body without end": (for_ever(OK + b"\r\n", BLOCK), LARGE),
    "body of 1 EB": (for_ever(OK + b"Content-Length: 1000000000000000000\r\n\r\n", BLOCK), LARGE),
    "chunks without end": (for_ever(CHUNKED, b"10000\r\n" + BLOCK + b"\r\n"), LARGE),
    "chunks of one byte": (for_ever(CHUNKED, b"1;" + b"e" * 999 + b"\r\nx\r\n"), LARGE),
    "chunk of 1 EB": (for_ever(CHUNKED + b"fffffffffffffff\r\n", BLOCK), LARGE),
    "chunk extension": (for_ever(CHUNKED + b"1;", BLOCK), BROKEN),
    "chunk size": (for_ever(CHUNKED, b"0" * 1000), BROKEN),
    "trailers": (for_ever(CHUNKED + b"0\r\n", b"a: b\r\n" * 1000), BROKEN),
    "length too large": (once(OK + b"Content-Length: 99\r\n\r\n{}"), BROKEN),
    "length negative": (once(OK + b"Content-Length: -1\r\n\r\n{}"), BROKEN),
    "two lengths": (once(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), BROKEN),
    "length of many digits": (once(OK + b"Content-Length: " + b"9" * 9999 + b"\r\n\r\n{}"), BROKEN),
    "header lines": (for_ever(OK, b"a: b\r\n" * 1000), HEADERS),
    "header": (for_ever(OK + b"a: ", BLOCK), HEADERS),
    "header of 64 KiB": (once(OK + b"a: " + BLOCK + b"\r\n\r\n"), HEADERS),
    "status line": (for_ever(b"HTTP/1.1 200 ", BLOCK), HEADERS),
    "no HTTP": (for_ever(b"", BLOCK), HEADERS),
    "no HTTP in lines": (for_ever(b"", b"SSH-2.0\r\n"), HEADERS),
    "a line that is no HTTP": (for_ever(b"SSH-2.0\r\n\r\n", BLOCK), BROKEN),
    "early hints": (for_ever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"), HEADERS),
    "continue": (for_ever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), HEADERS),
    "nothing": (once(b""), BROKEN),
}
# Attacks that only a deadline ends: what is sent byte by byte, the last byte for ever.
DRIPS: dict[str, bytes] = {
    "silence": b"",
    "status line": b"HTTP/1.1 200 OK",
    "headers": OK + b"a: b",
    "early hints": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000,
    "body": OK + b"\r\n{",
    "chunks": CHUNKED + b"1\r\n{\r\n" * 1000,
    "chunk extension": CHUNKED + b"1;e",
}
# The beginning of a record of a handshake of TLS 1.2, whose length is never reached.
TLS_DRIP = b"\x16\x03\x03\x40\x00\x02"
# A fatal alert of TLS without its reason.
TLS_ALERT = b"\x15\x03\x03\x00\x02\x02"
