"""What listens to Airflow in live tests: a real mail server, and the receiving end of StatsD."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from sandbox.parts import free_ports
from tests.waiting import wait_until

HOST = "127.0.0.1"
ALERTS = """\
alerts:
  too_long_after: {too_long_after}
  notifiers:
    - notifier: airflow.providers.smtp.notifications.smtp.SmtpNotifier
      arguments:
        smtp_conn_id: oncall_mail
        to: oncall@example.com
        subject: "{{{{ alert.subject }}}}"
        html_content: "{{{{ alert.html }}}}"
        custom_headers: {{X-Alert: "{{{{ alert.kind }}}}"}}
"""


def alerts_section(too_long_after: str = "2h") -> str:
    """Return a migration file's section `alerts` that sends everything to the mailbox."""
    return ALERTS.format(too_long_after=too_long_after)


@dataclass
class Mailbox:
    """The mails that a mail server on loopback took, oldest first."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Take a mail (aiosmtpd's handler)."""
        content = envelope.content
        assert isinstance(content, bytes)
        mail = email.message_from_bytes(content, policy=email.policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"

    def of(self, migration: str) -> dict[str, str]:
        """Return the texts of the mails about a migration by the kind of alert, which is a header of each."""
        # A subject ends with the name of the migration, or has a colon after it.
        mine = (mail for mail in self.mails if f"] {migration}:" in f"{mail['Subject']}:")
        return {str(mail["X-Alert"]): _text(mail) for mail in mine}

    def wait_for(self, migration: str, kind: str) -> str:
        """Return the text of an alert once it has come."""
        wait_until(lambda: kind in self.of(migration), 180, f"a mail of kind {kind} about {migration}")
        return self.of(migration)[kind]

    @property
    def environment(self) -> dict[str, str]:
        """The Airflow connection `oncall_mail`."""
        extra = {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.com"}
        connection = {"conn_type": "smtp", "host": HOST, "port": self.port, "extra": extra}
        return {"AIRFLOW_CONN_ONCALL_MAIL": json.dumps(connection)}


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(("html", "plain"))
    return "" if body is None else str(body.get_content())


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Run a mail server until the end of the block."""
    (port,) = free_ports(1)
    mailbox = Mailbox(port)
    controller = Controller(mailbox, hostname=HOST, port=mailbox.port)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()


@dataclass
class StatsD:
    """The newest value of each metric that came as a datagram, and whether it came at all."""

    socket: socket.socket
    values: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Airflow's settings that send metrics here."""
        port = self.socket.getsockname()[1]
        settings = {"STATSD_ON": "True", "STATSD_HOST": HOST, "STATSD_PORT": str(port)}
        return {f"AIRFLOW__METRICS__{name}": value for name, value in settings.items()}

    def listen(self) -> None:
        """Take datagrams until the socket is shut."""
        while data := self.socket.recv(65536):
            for line in data.decode().splitlines():
                name, _, value = line.partition(":")
                self.values[name] = value

    def wait_for(self, name: str) -> str:
        """Return the value and type of a metric of ours once it has come, such as `3|g`."""
        full = f"airflow.kafka_migration.{name}"
        wait_until(lambda: full in self.values, 60, f"the metric {full}")
        return self.values[full]


@contextmanager
def statsd() -> Iterator[StatsD]:
    """Receive metrics until the end of the block."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind((HOST, 0))
    receiver = StatsD(listening)
    thread = threading.Thread(target=receiver.listen, name="statsd", daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        # An empty datagram ends the thread.
        listening.sendto(b"", listening.getsockname())
        thread.join(10)
        listening.close()
