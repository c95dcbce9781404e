"""What a failure of the driver or the server means, in words that say what to do next."""

from __future__ import annotations

import re
import ssl

from neo4j import exceptions

from provenance.errors import CapsuleError, StoreError, UsageError
from provenance.store.address import Address

FAILURES = (exceptions.Neo4jError, exceptions.DriverError, OSError, ssl.SSLError)
"""What the driver raises for what is not a defect of this program."""

_TEXT_IS_WRONG = re.compile(r"Neo\.ClientError\.(Statement|Schema|Procedure)\.")
_TIMED_OUT = ("Neo.ClientError.Transaction.TransactionTimedOut", "Neo.TransientError.Transaction.LockClientStopped")
_ENDED = ("Neo.ClientError.Transaction.Terminated", "Neo.TransientError.Transaction.Terminated")

_NO_BOLT = "does not speak Bolt, or only under TLS (a scheme with +s): 7687 is Neo4j's usual port, 7474 is that of its web page"

NO_ROUTE = (
    "gives no routing table, or one that leads nowhere from here: for one server, or one behind a tunnel, use bolt:// "
    "in place of neo4j://"
)


def of_query(error: BaseException, address: Address, timeout: float | None, *, cancelled: bool = False) -> CapsuleError:
    """The error for a reading statement: UsageError where its text is at fault."""
    code = getattr(error, "code", None) or ""
    if cancelled:
        return StoreError("the query was cancelled")
    if code.startswith(_TIMED_OUT) or (timeout is not None and code.startswith(_ENDED)):
        return StoreError(f"the query took longer than {timeout:g} s and was stopped" if timeout else _said(error))
    if isinstance(error, exceptions.ClientError) and _TEXT_IS_WRONG.match(code):
        return UsageError(_said(error))
    return of_store(error, address)


def of_store(error: BaseException, address: Address) -> StoreError:
    """The error for a connection or a transaction."""
    if isinstance(error, StoreError):
        return error
    return StoreError(_explained(error, address))


def _explained(error: BaseException, address: Address) -> str:
    code = getattr(error, "code", None) or ""
    said = _said(error)
    place = address.place
    chain = " ".join(_messages(error))
    if isinstance(error, exceptions.AuthError) or code.startswith("Neo.ClientError.Security.Unauthorized"):
        who = f"user {address.user!r}" if address.user else "no user name"
        given = "a password" if address.password else "no password"
        if "RateLimit" in code:
            return f"{place} refuses to listen for a while after too many wrong passwords: wait, then try again"
        return (
            f"{place} does not let in {who} with {given}: set NEO4J_USERNAME and NEO4J_PASSWORD, or the [neo4j] table "
            "of the configuration file"
        )
    if "AuthenticationRateLimit" in code:
        return f"{place} refuses to listen for a while after too many wrong passwords: wait, then try again"
    if "CredentialsExpired" in code:
        return f"{place}: the password must be changed before it can be used"
    if code.startswith("Neo.ClientError.Database.DatabaseNotFound"):
        return f"{address.uri} has no database {address.database!r}"
    if "DatabaseUnavailable" in code:
        return f"{place} is not available at present: {said}"
    if code.startswith("Neo.ClientError.Security.Forbidden"):
        return f"{place} does not permit this to user {address.user!r}: {said}"
    if "MemoryPoolOutOfMemory" in code or "OutOfMemory" in code:
        return (
            f"{place} has too little memory for this transaction: raise dbms.memory.transaction.total.max or its heap"
        )
    if isinstance(error, exceptions.UnsupportedServerProduct):
        return f"{place} {_NO_BOLT}"
    if isinstance(error, exceptions.ConfigurationError):
        return f"{place} cannot be opened: {said}"
    if "certificate" in chain.lower() and ("verify failed" in chain or "CERTIFICATE" in chain):
        return (
            f"{place} shows a certificate that cannot be trusted: name its authority's file with ?ca=FILE, or use "
            f"{address.uri.partition(':')[0].removesuffix('+s')}+ssc:// to take any"
        )
    if "SSL" in chain or "ssl" in chain:
        return f"{place} does not answer to TLS as expected ({said}): try the scheme with or without +s"
    if "Connection refused" in chain:
        return f"{place}: no server listens there (connection refused)"
    if any(
        words in chain
        for words in (
            "Name or service not known",
            "Temporary failure in name",
            "nodename nor servname",
            "Cannot resolve",
        )
    ):
        return f"{place}: there is no machine of that name"
    if "timed out" in chain or "Timed out" in chain:
        return f"{place} does not answer (timed out)"
    if "handshake" in chain or "HTTP" in chain or "Bolt" in chain.partition("Couldn't")[0]:
        return f"{place} {_NO_BOLT}"
    if "routing" in chain:
        return f"{place} {NO_ROUTE}"
    return f"{place}: {said}"


def _messages(error: BaseException | None) -> list[str]:
    """The messages of an error and of what caused it."""
    found: list[str] = []
    while error is not None and len(found) < 10:
        found.append(f"{type(error).__name__} {error}")
        error = error.__cause__ or error.__context__
    return found


def _said(error: BaseException) -> str:
    """The server's message, in one line and without the text of the query."""
    message = (error.message if isinstance(error, exceptions.Neo4jError) else None) or str(error)
    message = message or type(error).__name__
    return message.partition("\n")[0].strip()
