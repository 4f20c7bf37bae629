"""An OAuth 2.0 server on loopback for tests: client credentials for signed tokens, over HTTPS.

It stands in for an identity provider such as Keycloak, which is too large for these tests. HTTP, TLS and tokens are
real.
"""

from __future__ import annotations

import base64
import json
import secrets
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from sandbox.parts import HOST
from sandbox.private import write_private
from sandbox.security.authority import Authority

AUDIENCE = "kafka"
SCOPE = "migration"
# Short, so that clients renew their tokens within a test.
LIFETIME_S = 90
_PATH = "/oauth2/token"
_KEY_ID = "sandbox"


@dataclass
class TokenServer:
    """Gives tokens to one client; brokers know its key by the file `keys`.

    `user` is the subject of the tokens and the id of the client. `given` counts the tokens.
    """

    folder: Path
    port: int
    user: str
    authority: Authority = field(default_factory=lambda: Authority("identity provider"), repr=False)
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(16), repr=False)
    lifetime_s: int = LIFETIME_S
    given: int = 0

    def __post_init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
        self._server: ThreadingHTTPServer | None = None

    @property
    def keys(self) -> Path:
        """The file with the key that verifies the tokens, as a JSON Web Key Set."""
        return self.folder / "jwks.json"

    @property
    def public_key(self) -> rsa.RSAPublicKey:
        """The key that verifies the tokens."""
        return self._key.public_key()

    @property
    def url(self) -> str:
        """The token endpoint."""
        return f"https://{HOST}:{self.port}{_PATH}"

    def write_keys(self) -> None:
        """Write `keys`."""
        key = RSAAlgorithm.to_jwk(self.public_key, as_dict=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.keys.write_text(json.dumps({"keys": [{**key, "kid": _KEY_ID, "use": "sig", "alg": "RS256"}]}))

    def broker_login(self) -> dict[str, str]:
        """Return the properties of a listener that accepts the tokens."""
        package = "org.apache.kafka.common.security.oauthbearer"
        return {
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "oauthbearer.sasl.jaas.config": f"{package}.OAuthBearerLoginModule required;",
            "oauthbearer.sasl.server.callback.handler.class": f"{package}.OAuthBearerValidatorCallbackHandler",
            "sasl.oauthbearer.jwks.endpoint.url": self.keys.as_uri(),
            "sasl.oauthbearer.expected.audience": AUDIENCE,
        }

    def client_login(self) -> dict[str, str]:
        """Return the login of a connection."""
        return {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": self.user,
            "sasl.oauthbearer.client.secret": self.secret,
            "sasl.oauthbearer.scope": SCOPE,
            "sasl.oauthbearer.token.endpoint.url": self.url,
            "https.ca.pem": self.authority.certificate,
        }

    def start(self) -> None:
        """Serve until `stop`, in a thread of this process."""
        own, certificate = self.authority.issue("tokens"), self.folder / "tokens.pem"
        self.folder.mkdir(parents=True, exist_ok=True)
        write_private(certificate, own.key + own.certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server = ThreadingHTTPServer((HOST, self.port), _handler_of(self))
        # A client that never completes its handshake blocks only its own thread.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, name="tokens", daemon=True).start()
        self._server = server

    def stop(self) -> None:
        """Stop serving; harmless if it never started."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def token(self, **claims: Any) -> str:
        """Return a signed token; `claims` replace or add to the usual ones."""
        now = int(time.time())
        usual = {"sub": self.user, "aud": AUDIENCE, "scope": SCOPE, "iat": now, "exp": now + self.lifetime_s}
        return jwt.encode({**usual, **claims}, self._key, algorithm="RS256", headers={"kid": _KEY_ID})

    def answer(self, path: str, authorization: str, body: str) -> tuple[int, dict[str, Any]]:
        """Return status and JSON for a request of a token (RFC 6749, section 4.4)."""
        if path != _PATH or parse_qs(body).get("grant_type") != ["client_credentials"]:
            return 400, {"error": "invalid_request"}
        if not secrets.compare_digest(_login_in(authorization), f"{self.user}:{self.secret}"):
            return 401, {"error": "invalid_client"}
        self.given += 1
        return 200, {"access_token": self.token(), "token_type": "Bearer", "expires_in": self.lifetime_s}


def _login_in(authorization: str) -> str:
    scheme, _, encoded = authorization.partition(" ")
    try:
        return unquote(base64.b64decode(encoded).decode()) if scheme == "Basic" else ""
    except ValueError:
        return ""


def _handler_of(server: TokenServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            status, found = server.answer(self.path, self.headers.get("Authorization", ""), body)
            answer = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler
