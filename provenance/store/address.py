"""Where a Neo4j database is and who asks: from a URI, the environment and the configuration file. Knows no driver.

    neo4j://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?ca=FILE&user=USER&retry=SECONDS]

Schemes: `neo4j` routes within a cluster, `bolt` talks to that one server; `+s` asks for TLS with a certificate that is
checked (against the file `ca`, if given, else the system's authorities), `+ssc` takes any certificate. What the URI leaves
open comes from NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE, then from the `[neo4j]` table of the configuration file
(`username`, `password` or `password_file`, `database`, `ca`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from provenance.errors import StoreError

SCHEMES = tuple(f"{scheme}{security}" for scheme in ("neo4j", "bolt") for security in ("", "+s", "+ssc"))
PORT = 7687
RETRY = 120.0
"""Seconds for which a write is tried again: a server that restarts is back before."""

_OPTIONS = ("ca", "database", "retry", "user")


@dataclass(frozen=True, slots=True)
class Address:
    """`uri` is what the driver takes: scheme, host and port. `shown` opens it again, without the password."""

    uri: str
    shown: str
    user: str | None
    password: str | None = field(repr=False)
    database: str | None
    ca: Path | None
    retry: float

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.uri}{f', database {self.database}' if self.database else ''}"


def config_file() -> Path:
    from platformdirs import user_config_dir

    return Path(user_config_dir("evidence-capsule", appauthor=False)) / "config.toml"


def parse(uri: str, environment: Mapping[str, str] | None = None, config: Path | None = None) -> Address:
    """Raises StoreError for a URI or a configuration file that cannot be read, never showing a password."""
    environment = os.environ if environment is None else environment
    configured = _configured(config or config_file())
    try:
        parts = urlsplit(uri)
        port = parts.port or PORT
    except ValueError:  # its message may quote a part of the password
        raise StoreError(
            f"the store's URI cannot be read: write {uri.partition('://')[0]}://HOST:PORT/DATABASE, with % escapes for "
            "/ : @ ? # [ ] in a user or password"
        ) from None
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise StoreError(
            f"{_without_password(uri)} names no server: write {parts.scheme or 'neo4j'}://HOST:PORT/DATABASE"
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(options.keys() - set(_OPTIONS)):
        raise StoreError(f"the store's URI has the option {unknown[0]!r}; there are {', '.join(_OPTIONS)}")

    def first(*values: str | None) -> str | None:
        return next((value for value in values if value), None)

    database = first(
        unquote(parts.path.strip("/")),
        options.get("database"),
        environment.get("NEO4J_DATABASE"),
        configured.get("database"),
    )
    user = first(
        unquote(parts.username or ""),
        options.get("user"),
        environment.get("NEO4J_USERNAME"),
        configured.get("username"),
    )
    password = first(unquote(parts.password or ""), environment.get("NEO4J_PASSWORD"), configured.get("password"))
    password = password or _read_password(configured.get("password_file"))
    ca = first(options.get("ca"), configured.get("ca"))
    try:
        retry = float(options.get("retry", RETRY))
    except ValueError:
        raise StoreError(f"retry in the store's URI is a number of seconds, not {options['retry']!r}") from None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    address = f"{parts.scheme}://{host}:{port}"
    named = f"{quote(user, safe='')}@" if parts.username and user else ""
    kept = f"?{parts.query}" if parts.query else ""
    shown = f"{parts.scheme}://{named}{host}:{port}{parts.path.rstrip('/')}{kept}"
    return Address(address, shown, user, password, database, Path(ca).expanduser() if ca else None, retry)


def _without_password(uri: str) -> str:
    scheme, separator, rest = uri.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _configured(path: Path) -> dict[str, str]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    table = content.get("neo4j", {})
    if not isinstance(table, dict):
        raise StoreError(f"{path}: neo4j is a table")
    known = ("username", "password", "password_file", "database", "ca")
    for name, value in cast("dict[str, Any]", table).items():
        if name not in known:
            raise StoreError(f"{path}: [neo4j] has no {name!r}; it has {', '.join(known)}")
        if not isinstance(value, str):
            raise StoreError(f"{path}: {name} in [neo4j] is text")
    return cast("dict[str, str]", table)


def _read_password(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise StoreError(f"the password file {path} cannot be read: {error}") from None
