"""The guard in front of user Cypher: what passes, what is refused, and by which name and place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.cypher import REFUSED, guard
from provenance.errors import QueryRefused, UsageError
from provenance.store import Store, open_store
from queries import catalogue
from tests import handmade
from tests.stores import Location

PROCEDURE = "CALL show_tables() RETURN *"
READS = [
    "MATCH (n:Session) RETURN n",
    "MATCH (n:Process) WHERE n.pid = 1 RETURN n.end AS x ORDER BY x DESC SKIP 1 LIMIT 3;",
    "RETURN 1 AS a UNION ALL RETURN 2 AS a",
    "RETURN 1 AS a UNION RETURN 2 AS a",
    "MATCH (n:Process) RETURN CASE WHEN n.pid = 1 THEN 'CREATE' ELSE \"SET\" END AS y // DELETE",
    "MATCH (a:Process)-[e:USED*1..3]->(b:`Artifact`) RETURN count(*)",
    "MATCH (n:Process) WHERE EXISTS { MATCH (n)-[:USED]->(m:Artifact) WHERE m.version IN [1, 2] } RETURN *",
    "MATCH (n:Process) WHERE COUNT { MATCH (n)-[:USED]->() } > 1 RETURN n.id",
    PROCEDURE,
    "UNWIND [1, 2] AS x RETURN x % 2, -x, x * x",
    'RETURN \'it\\\'s\' AS a, "say \\"x\\"" AS b',
    "MATCH (n:Process) WHERE any(x IN n.argv WHERE x = 'a') AND all(x IN n.argv WHERE x <> 'b') RETURN n.id",
    "WITH 1 AS a RETURN DISTINCT a",
    "MATCH (n:Artifact) RETURN n.`path` IS NOT NULL",
    "MATCH (n:Artifact) WHERE n.path STARTS WITH 'a' AND NOT n.path ENDS WITH 'c' XOR n.path CONTAINS 'e' RETURN n.id",
    "MATCH (a:Process) WHERE a.pid>0 RETURN a.pid AS call, a.end AS `end` ORDER BY call",
    "OPTIONAL MATCH (n:Process) RETURN n.start AS start",
    "/* all\n of it */ MATCH (s:Session)\n// one a line\nRETURN s.id",
]

ATTEMPTS = [
    ("CREATE (n:Session {id: 'x'})", "CREATE"),
    ("MATCH (n) SET n.x = 1", "SET"),
    ("MATCH(n)SET n.x=1 RETURN n", "SET"),
    ("MATCH (n) WHERE n.x=1SET n.y=2", "SET"),
    ("MATCH (n) WHERE n.x='a'SET n.y=2", "SET"),
    ("MATCH (n) DETACH DELETE n", "DETACH"),
    ("match (n) /* a */ delete n", "delete"),
    ("MATCH (n) -- /*\n*/ DeLeTe n", "DeLeTe"),
    ("MATCH (n) REMOVE n.x", "REMOVE"),
    ("MERGE (n:Session {id: 'x'})", "MERGE"),
    ("MATCH (n) FOREACH (x IN [1] | CREATE (m))", "FOREACH"),
    ("MATCH (n) RETURN [x IN [1] | CREATE (n)]", "CREATE"),
    ("LOAD FROM '/etc/passwd' RETURN *", "LOAD"),
    ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "LOAD"),
    ("COPY (MATCH (n) RETURN n) TO '/tmp/x.csv'", "COPY"),
    ("EXPORT DATABASE '/tmp/x'", "EXPORT"),
    ("IMPORT DATABASE '/tmp/x'", "IMPORT"),
    ("ATTACH '/tmp/x' AS y (dbtype sqlite)", "ATTACH"),
    ("INSTALL httpfs", "INSTALL"),
    ("DROP TABLE Session", "DROP"),
    ("ALTER TABLE Session ADD x STRING", "ALTER"),
    ("BEGIN TRANSACTION", "BEGIN"),
    ("CHECKPOINT", "CHECKPOINT"),
    ("USE other MATCH (n) RETURN n", "USE"),
    ("PROFILE MATCH (n) RETURN n", "PROFILE"),
    ("COMMENT ON TABLE Session IS 'x'", "COMMENT"),
    ("RETURN 1; DROP TABLE Session", ";"),
    ("RETURN 1 UNION CREATE (n)", "CREATE"),
    ("RETURN 1 UNION ALL LOAD FROM 'x' RETURN *", "LOAD"),
    ("MATCH (n) WITH n AS skip WITH skip CREATE (m)", "CREATE"),
    ("WITH * CREATE (n)", "CREATE"),
    ("MATCH (n) FROBNICATE n", "FROBNICATE"),
    ("FROBNICATE (n)", "FROBNICATE"),
    ("MATCH (n) WHERE EXISTS { CREATE (m) } RETURN n", "CREATE"),
    ("CALL apoc.load.json('x') YIELD value RETURN value", "CALL apoc.load.json"),
    ("CALL `apoc`.`load`()", "CALL apoc.load"),
    ("CALL { MATCH (n) RETURN n } RETURN n", "CALL"),
    ("CALL timeout=4", "CALL timeout"),
    ("CALL show_tables() CREATE (n)", "CREATE"),
    ("RETURN apoc.cypher.runFirstColumnSingle('x', {})", "apoc.cypher.runFirstColumnSingle"),
    ("RETURN nextval('s')", "nextval"),
    ("\\u0043REATE (n)", "\\"),
    ("MATCH (n) // \\u000a DELETE n\nRETURN n", "\\u000a"),
    ("RETURN '\\u0027 CREATE (n) //'", "\\u0027"),
    ("RETURN `a\\u0060 CREATE`", "\\u0060"),
    ("'x'", "'x'"),
]


@pytest.mark.parametrize("text", READS)
def test_reading_passes(text: str) -> None:
    guard(text)


@pytest.fixture(scope="module")
def store(module_location: Location) -> Iterator[Store]:
    with open_store(module_location, write=True) as opened:
        opened.apply(handmade.changes())
        yield opened


@pytest.mark.parametrize("text", [text for text in READS if text != PROCEDURE])
def test_what_passes_runs(text: str, store: Store) -> None:
    store.query(guard(text))


def test_a_procedure_of_the_embedded_engine_runs_on_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", write=True) as store:
        assert store.query(guard(PROCEDURE)).rows


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda query: query.id)
def test_the_catalogue_passes(query: object) -> None:
    guard(query.text)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "word"), ATTEMPTS)
def test_everything_else_is_refused_by_name(text: str, word: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        guard(text)
    assert str(refused.value).startswith(f"{word} at line ")


def test_the_place_is_named() -> None:
    with pytest.raises(QueryRefused, match="DELETE at line 3, column 2"):
        guard("MATCH (n)\n\n DELETE n")


@pytest.mark.parametrize(
    "text", ["", "  ", ";", "// only words", "RETURN 'a", 'RETURN "a', "RETURN `a", "RETURN $", "/* open", "RETURN #"]
)
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises((UsageError, QueryRefused)):
        guard(text)


def test_comments_are_taken_out() -> None:
    assert guard("RETURN /* DELETE */ 1 AS a // SET x") == "RETURN 1 AS a"
    assert guard("RETURN '// no comment' AS a") == "RETURN '// no comment' AS a"


@pytest.mark.parametrize("word", sorted(REFUSED))
def test_a_refused_word_may_be_a_name_where_it_cannot_be_a_clause(word: str) -> None:
    guard(f"MATCH (n:{word} {{{word}: 1}}) WHERE n.{word} = 1 RETURN n.`{word}` AS `{word}`")


@given(st.sampled_from(sorted(REFUSED)), st.sampled_from(["MATCH (n) ", "MATCH (n) WHERE n.a = 1 ", "RETURN 1 ", "WITH 1 AS x "]),
       st.sampled_from([" ", "\n", "\t", "/**/", "//x\n", "\r", "\u00a0", "\u2003"]), st.booleans())  # fmt: skip
def test_a_refused_word_is_found_behind_any_space(word: str, before: str, space: str, lower: bool) -> None:
    with pytest.raises(QueryRefused):
        guard(f"{before}{space}{word.lower() if lower else word}{space}(m)")


@given(st.text(alphabet="MATCHCREATE(){}[]:|`'\"\\/*.,;=$ n1\n"))
def test_any_text_is_judged_without_another_error(text: str) -> None:
    try:
        cleaned = guard(text)
    except (QueryRefused, UsageError):
        return
    assert guard(cleaned) == cleaned


def test_a_guarded_query_on_a_graph(store: Store) -> None:
    rows = store.query(guard("MATCH (a:Artifact) WHERE a.label = 'secret' /* x */ RETURN a.path AS path;"))
    assert rows.dicts() == [{"path": f"{handmade.WS}/.env"}]
