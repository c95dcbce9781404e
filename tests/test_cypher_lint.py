"""The lint: each rule by the pair of answers that it is for, on both engines; the catalogue and the pages without findings."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.cypher import Finding, lint
from provenance.cypher.lint import RULES
from provenance.errors import QueryRefused, UsageError
from provenance.store import Store, open_store
from queries import Query, catalogue
from queries.explanations import families, texts
from tests.cypher_differences import PAGE, Difference, answer, changes, differences
from tests.stores import Locations

DIFFERENCES = differences()
every_difference = pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.text)


@pytest.fixture(scope="module")
def ladybug(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("lint") / "store", write=True) as store:
        store.apply(changes())
        yield store


@pytest.fixture(scope="module")
def neo4j(locations: Locations) -> Iterator[Store]:
    servers = locations.servers()
    lease = servers.lease()
    with open_store(lease.location, write=True) as store:
        store.apply(changes())
        yield store
    servers.release(lease)


def rules(text: str) -> set[str]:
    return {finding.rule for finding in lint(text)}


def test_every_rule_has_its_row() -> None:
    assert {row.rule for row in DIFFERENCES} == set(RULES) - {"unknown-name"} | {"clause"}


@every_difference
def test_it_is_found_and_what_to_write_instead_is_clean(row: Difference) -> None:
    assert row.rule in rules(row.text)
    assert not row.instead or rules(row.instead) == set()


@every_difference
def test_ladybug_answers_so(row: Difference, ladybug: Store) -> None:
    assert answer(ladybug, row.text) == row.ladybug


@every_difference
def test_neo4j_answers_so(row: Difference, neo4j: Store) -> None:
    assert answer(neo4j, row.text) == row.neo4j


@every_difference
def test_the_engines_differ_where_it_is_said_and_agree_instead(row: Difference, ladybug: Store, neo4j: Store) -> None:
    assert row.ladybug != row.neo4j or row.rule in ("unlabelled-anchor", "order-of-union")
    if row.instead:
        assert answer(ladybug, row.instead) == answer(neo4j, row.instead) != "error"


def test_a_rule_is_silent_where_an_engine_answers_wrongly_without_an_error() -> None:
    for name, rule in RULES.items():
        answers = [(row.ladybug, row.neo4j) for row in DIFFERENCES if row.rule == name]
        assert name == "unknown-name" or rule.silent == any(
            "error" not in pair and len(set(pair)) == 2 for pair in answers
        )


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda query: query.id)
def test_the_catalogue_keeps_to_what_both_take_alike(query: Query) -> None:
    assert lint(query.text) == []


@pytest.mark.parametrize(
    ("place", "text"),
    [found for family in families().values() for found in texts(family)],
    ids=lambda word: word if "/" in word[:80] and " " not in word else "",
)
def test_the_texts_of_explanations_do_so_too(place: str, text: str) -> None:
    assert lint(text) == []


@pytest.mark.parametrize("text", re.findall(r"```cypher\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_examples_of_the_page_keep_to_it_and_answer_alike(text: str, ladybug: Store, neo4j: Store) -> None:
    assert lint(text) == []
    assert answer(ladybug, text) == answer(neo4j, text) not in ("error", "no rows")


def test_the_place_is_told() -> None:
    found = lint("MATCH (n:Session)\nRETURN n.id AS id,\n  n.agnet AS agent")
    assert found == [Finding("unknown-name", "Session has no field 'agnet': did you mean agent?", 3, 5)]


CLEAN = [
    "MATCH (a:Process)-[:USED]->(b)-[:GENERATED_BY]->(c)-[:USED]->(d) RETURN count(*)",
    "MATCH (a:Process)-[:USED]->(b:Artifact), (c:ToolCall)-[:USED]->(b) RETURN count(*)",
    "MATCH (a:Process)-[:USED]->(b)<-[:GENERATED_BY]-(c) RETURN count(*)",
    "MATCH (a:Process)-[:USED]->(b)<-[:USED]-(c:Process) WHERE a <> c RETURN count(*)",
    "MATCH (a:Process)-[:USED]->(b)<-[:USED]-(c:Process) WHERE c.id < a.id RETURN count(*)",
    "MATCH (s:Session) WITH s AS t MATCH (t)<-[:PART_OF]-(u) RETURN u.id",
    "MATCH (s:Session) RETURN s.id AS id UNION MATCH (s:Turn) RETURN s.id AS id",
    "MATCH (p:Process) WHERE any(x IN p.argv WHERE x = 'a') AND p.pid IN [1, 2] RETURN p.argv[-1] AS last",
    "MATCH (p:Process) WHERE p.pid >= 1 AND p.pid <= 2 AND NOT p.pid = 3 RETURN p.id",
    "MATCH (p:Process)-[e:USED]->(a:Artifact) RETURN p.id AS p, coalesce(sum(e.bytes), 0) AS bytes",
    "MATCH (p:Process) RETURN p.id AS id, CASE p.pid WHEN 1 THEN 'one' ELSE 'more' END AS many ORDER BY id LIMIT 3",
    "MATCH (a:Artifact) WHERE a.path =~ '.*[.]py' OR a.path STARTS WITH '/' RETURN DISTINCT lower(a.path) AS path",
    "MATCH (s:Session) WHERE NOT (s)<-[:PART_OF]-(:Turn) RETURN s.id",
    "MATCH p = (s:Session)<-[:PART_OF*1..2]-(n) RETURN length(p) AS steps, size(nodes(p)) AS nodes",
    "UNWIND $ids AS id MATCH (p:Process {id: id}) RETURN p.id AS id, count(*) AS n",
]
FOUND = [
    ("MATCH (a:Process)-[e]-(b)-[f]-(c) RETURN count(*)", {"same-edge"}),
    ("MATCH (a:Process)-[:USED]->(b)<-[:USED]-(c:Process) WHERE a.pid <> c.pid RETURN count(*)", {"same-edge"}),
    ("MATCH (a:Process)-[:USED*1..2]->(b:Artifact), (a)-[:USED]->(b) RETURN count(*)", {"same-edge"}),
    ("MATCH (p:Process)-[:CONTINUES*]->(q) RETURN count(*)", {"unbounded-path"}),
    ("MATCH (p:Process)-[:CONTINUES*2..]->(q) RETURN count(*)", {"unbounded-path"}),
    ("MATCH (n) RETURN count(*)", {"unlabelled-anchor"}),
    ("MATCH (n)-[:USED]->(m) RETURN count(*)", {"unlabelled-anchor"}),
    ("MATCH (n:Session) RETURN n.id AS x UNION MATCH (n) RETURN n.id AS x", {"unlabelled-anchor"}),
    (
        "MATCH (a:Process), (b:Process) MATCH p = shortestPath((a)-[:USED*1..3]->(b)) RETURN length(p)",
        {"path-form", "function-differs"},
    ),
    ("MATCH (s:Session) RETURN COLLECT { MATCH (s)<-[:PART_OF]-(t) RETURN t.id } AS x", {"subquery-form"}),
    ("MATCH (s:Session) WHERE exists((s)<-[:PART_OF]-()) RETURN s.id", {"function-differs"}),
    ("MATCH (s:Session) WHERE 1 = s.agent RETURN s.id", {"types-compared"}),
    ("MATCH (s:Session) WHERE s.start <> '1' RETURN s.id", {"types-compared"}),
    ("MATCH (c:Coverage) WHERE c.complete = 'true' RETURN c.id", {"types-compared"}),
    ("MATCH (p:Process) RETURN p.argv[0] AS x", {"list-place"}),
    ("MATCH (s:Session) RETURN s.*", {"star"}),
    ("MATCH (s:Session) RETURN s.id AS x ORDER BY datetime()", {"function"}),
    ("MATCH (s:Session) SET s.x = 1", {"clause"}),
    ("CALL { MATCH (s:Session) RETURN s } RETURN s", {"clause"}),
    ("MATCH (all:Session) RETURN all.id", {"reserved-word"}),
    ("MATCH (s:Session) RETURN sum(s.start) AS x", {"sum-of-nothing"}),
    ("MATCH (s:Session) RETURN s.id AS id, sum(s.start) AS x", {"sum-of-nothing"}),
    ("MATCH (s:Session) RETURN sum(coalesce(s.start, 0)) AS x", {"sum-of-nothing"}),
]


@pytest.mark.parametrize("text", CLEAN)
def test_nothing_is_found_where_both_answer_alike(text: str, ladybug: Store) -> None:
    assert lint(text) == []
    if "$" not in text:
        ladybug.query(text)


@pytest.mark.parametrize("text", [text for text in CLEAN if "$" not in text])
def test_both_answer_alike_where_nothing_is_found(text: str, ladybug: Store, neo4j: Store) -> None:
    assert answer(ladybug, text) == answer(neo4j, text) != "error"


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_more_forms_are_found(text: str, found: set[str]) -> None:
    assert rules(text) == found


PIECES = ("MATCH", "(n:Session)", "(a)", "-[e:USED*1..2]->", "--", "{", "}", "(", ")", "[", "]", "RETURN", "WITH", "n.id", "AS", "x",
          ",", "UNION", "WHERE", "EXISTS", "COUNT", "sum(", "CASE", "END", "1", "'a'", "=", "<", "|", "IN", "*", "CALL", ":", ".")  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=20))
def test_any_text_is_judged_without_another_error(pieces: list[str]) -> None:
    try:
        lint(" ".join(pieces))
    except (UsageError, QueryRefused):
        return
