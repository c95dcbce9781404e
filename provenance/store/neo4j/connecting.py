"""A driver for an address, and the true reason where none can be had."""

from __future__ import annotations

import dataclasses
import logging
import re
import ssl
from contextlib import suppress
from typing import Any

from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity, TrustCustomCAs, exceptions

from provenance.errors import StoreError
from provenance.store.address import Address
from provenance.store.neo4j import failures

OLDEST = (5, 26)
"""Server version. Calendar versions (2025.1 ...) are newer."""

CONNECT = 10.0
"""Seconds to wait for a connection."""

FIRST_PAUSE, PAUSE_GROWS = 0.5, 1.1
"""Seconds before a transaction is tried again, and how the pause grows. The driver's own doubles each time, and would
sleep for half a minute while a server that was restarted is long back."""

logging.getLogger("neo4j").addHandler(logging.NullHandler())


def connect(address: Address) -> Any:
    """A driver that has reached its server, which is new enough. Raises StoreError.

    It is a `neo4j.Driver`; not typed so, since most of that class's methods take untyped options.
    """
    try:
        return _reached(address)
    except failures.FAILURES as error:
        raise failures.of_store(_without_routing(error, address), address) from error


def _reached(address: Address) -> Any:
    driver: Any = _driver(address)
    try:
        database = {"database": address.database} if address.database else {}
        agent = driver.get_server_info(**database).agent
        found = re.match(r"Neo4j/v?(\d+)\.(\d+)", agent)
        if found and (int(found[1]), int(found[2])) < OLDEST:
            raise StoreError(f"{address.place} is {agent}: version {OLDEST[0]}.{OLDEST[1]} or later is needed")
    except BaseException:
        close(driver)
        raise
    return driver


def _driver(address: Address) -> Driver:
    options: dict[str, Any] = {}
    server = address.uri
    if address.ca is not None:
        try:
            ssl.create_default_context(cafile=address.ca)
        except OSError as error:  # the driver would name no file
            said = error.strerror or str(error)
            raise StoreError(f"{address.place}: the authorities in {address.ca} cannot be read: {said}") from None
        options["trusted_certificates"] = TrustCustomCAs(str(address.ca))
        scheme, _, rest = server.partition("://")
        server, options["encrypted"] = f"{scheme.partition('+')[0]}://{rest}", True
    try:
        return GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
            server,
            auth=(address.user, address.password or "") if address.user else None,
            connection_timeout=CONNECT,
            connection_acquisition_timeout=2 * CONNECT,
            max_transaction_retry_time=address.retry,
            initial_retry_delay=FIRST_PAUSE,
            retry_delay_multiplier=PAUSE_GROWS,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            user_agent="evidence-capsule",
            **options,
        )
    except ValueError as error:
        raise StoreError(f"{address.place}: {error}") from error


def _without_routing(error: Exception, address: Address) -> Exception:
    """Where routing failed, the driver does not say why: what a connection to that one server fails with, if it does."""
    if not address.uri.startswith("neo4j") or not isinstance(error, exceptions.ServiceUnavailable):
        return error
    direct = dataclasses.replace(address, uri=address.uri.replace("neo4j", "bolt", 1))
    try:
        close(_reached(direct))
    except (*failures.FAILURES, StoreError) as reason:
        return reason
    return StoreError(f"{address.place} {failures.NO_ROUTE}")


def close(driver: Driver) -> None:
    """A failure to say goodbye is none."""
    with suppress(*failures.FAILURES):
        driver.close()
