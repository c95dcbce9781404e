"""A slice in words: sentences, a tree of paths, what is not known, and the same as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from provenance.changes import Fields
from provenance.commands.output import count_of, short
from provenance.schema import Flow, kind_of
from provenance.slices import Slice, fields_of
from provenance.store.interface import EdgeRow, Store

if TYPE_CHECKING:
    from rich.tree import Tree

    from provenance.comparison import InputDifference

SHOWN = 20
"""Origins that the sentences and the tree show; the rest is counted, and complete in JSON."""

_CARRIERS = ("pipe", "socket", "memory", "terminal")
_SECRETS = """
MATCH (a:Artifact) WHERE a.label = 'secret' AND a.trace IN $traces AND a.class = 'file' RETURN a.id AS id, a.path AS path
ORDER BY path, id
"""
_GAPS = """
MATCH (g:Gap)-[:ABOUT]->(c:Coverage) WHERE c.id IN $coverages
RETURN g.reason AS reason, g.about AS about, g.count AS count, c.id AS coverage ORDER BY reason, about
"""
_COVERAGES = "MATCH (c:Coverage) WHERE c.id IN $coverages RETURN c.complete AS complete"
_FOLDERS = "MATCH (s:Session) WHERE s.cwd IS NOT NULL RETURN DISTINCT s.cwd AS cwd"


class Explanation:
    """What a slice says, for people (`sentences`, `tree`, `unknown`) and programs (`as_json`)."""

    def __init__(self, store: Store, target: str, ids: list[str], found: Slice) -> None:
        self.store = store
        self.target = target
        self.ids = ids
        self.slice = found
        self.folders = sorted((str(row[0]) for row in store.query(_FOLDERS).rows), key=len, reverse=True)
        self.starts = set(found.starts)
        self.ends = set(found.origins)
        far = found.origins if found.backward else [node for node in found.nodes if self._is_end(node)]
        self.nodes: dict[str, Fields] = store.nodes(found.nodes if len(found.nodes) < 2_000 else {*ids, *far})
        self.far = sorted(far, key=self._interest)
        self.paths = {node: found.path_ids(node) for node in self._shown()}
        on_paths = {node for path in self.paths.values() for node in path}
        self._load(on_paths)
        self.edges = self._path_edges(on_paths)
        self._load(edge.head for edge in self.edges.values() if edge.kind == "GENERATED_BY")
        self._load(str(fields["image"]) for fields in list(self.nodes.values()) if fields.get("image"))

    def _load(self, ids: Any) -> None:
        self.nodes.update(self.store.nodes({node for node in ids if node not in self.nodes}))

    def _is_end(self, node: str) -> bool:
        """Of what came of something: everything that left, and whatever nothing further came of."""
        return node not in self.starts and (node.startswith("flow:") or node in self.ends)

    def _path_edges(self, on_paths: set[str]) -> dict[tuple[str, str], EdgeRow]:
        """(tail, head) -> the edge on a path with all its fields, and who generated what was copied."""
        wanted = {
            (edge.kind, edge.tail, edge.head): edge
            for node in on_paths
            if (edge := self.slice.nodes[node].edge) is not None
        }
        copied = {edge.tail for edge in wanted.values() if edge.kind == "DERIVED_FROM"}
        for edge in self.slice.edges:
            if edge.kind == "GENERATED_BY" and edge.tail in copied:
                wanted[(edge.kind, edge.tail, edge.head)] = edge
        return {(edge.tail, edge.head): edge for edge in fields_of(self.store, wanted.values())}

    # ------------------------------------------------------------------------------------------- which matter

    def _kind(self, node: str) -> str:
        return node.partition(":")[0]

    def _class(self, node: str) -> str:
        return str(self.nodes.get(node, {}).get("class") or "")

    def _interest(self, node: str) -> tuple[int, int, str]:
        fields = self.nodes.get(node, {})
        kind, of_class = self._kind(node), self._class(node)
        rank = 5
        if fields.get("label") == "secret":
            rank = 0
        elif kind == "flow":
            rank = 1
        elif kind == "artifact" and of_class not in ("toolchain", "absent", *_CARRIERS):
            rank = 2 if fields.get("label") != "agent_state" else 4
        elif kind in ("endpoint", "toolcall"):
            rank = 3
        return rank, self.slice.nodes[node].depth, node

    def _folded(self, node: str) -> bool:
        return self._class(node) in ("toolchain", "absent", *_CARRIERS) or self._kind(node) in (
            "process",
            "policy",
            "authority",
            "modelcall",
            "principal",
        )

    def _shown(self) -> list[str]:
        return [node for node in self.far if not self._folded(node)][:SHOWN]

    # ------------------------------------------------------------------------------------------- words

    def path_of(self, path: str) -> str:
        """A path as people of the workspace say it."""
        for folder in self.folders:
            if path.startswith(folder.rstrip("/") + "/"):
                return path[len(folder.rstrip("/")) + 1 :]
        return path

    def program(self, node: str) -> str:
        """The program that a process state runs."""
        fields = self.nodes.get(node, {})
        image = self.nodes.get(str(fields.get("image") or ""), fields)
        executable = str(image.get("executable") or fields.get("executable") or "")
        return executable.rpartition("/")[2] or f"process {fields.get('pid', fields.get('name', node))}"

    def label(self, node: str, *, first: bool = False) -> str:
        """What a node is called in a chain; `first`: where the chain begins."""
        fields = self.nodes.get(node, {})
        kind, name = self._kind(node), str(fields.get("name") or node)
        if kind == "process":
            return self.program(node)
        if kind == "artifact":
            if path := fields.get("path"):
                version, shown = fields.get("version"), self.path_of(str(path))
                before = ", from before the trace" if version == 0 and self._class(node) != "absent" else ""
                text = f"{shown} (version {version}{before})" if first else f"{shown}@{version}"
            else:
                text = self._class(node) if self._class(node) in _CARRIERS else short(name, 70)
            return text
        if kind == "flow":
            way = "to" if fields.get("direction") == "out" else "from"
            return f"{fields.get('bytes', '?')} bytes {way} {fields.get('remote')}"
        if kind == "toolcall":
            what = fields.get("command") or ", ".join(map(str, fields.get("paths") or [])) or ""  # type: ignore[arg-type]
            return f"{fields.get('tool') or 'tool'} call {node.rpartition('/')[2]}" + (
                f" ({short(what, 60)})" if what else ""
            )
        if kind == "endpoint":
            return str(fields.get("address") or name)
        if kind == "modelcall":
            return f"the model (response {fields.get('ordinal')})"
        return f"{kind} {short(name, 60)}"

    def marks(self, node: str) -> str:
        """What must not be overlooked about a node."""
        fields = self.nodes.get(node, {})
        marks = [" [SECRET]" if fields.get("label") == "secret" else ""]
        if (bytes_bound := self.slice.bounds.get(node)) is not None:
            marks.append(f" [by decision, at most {bytes_bound:,} bytes on one path]")
        return "".join(marks)

    def how(self, edge: EdgeRow | None) -> str:
        """The call behind an edge, with its bytes."""
        if edge is None:
            return ""
        size = edge.fields.get("bytes") or None
        rule = str(edge.fields.get("rule") or "").rpartition("/")[2]
        if edge.kind == "USED":
            rule = "read"
        parts = [part for part in (rule, f"{size} bytes" if size is not None else "") if part]
        return f" ({' '.join(parts)})" if parts and size is not None else ""

    def chain(self, node: str) -> str:
        """From an origin (or the start, forward) along its path, states of one process and carriers folded."""
        path = self.paths[node]
        if self.slice.backward:
            path = path[::-1]
        parts = [self.label(path[0], first=True) + self.marks(path[0])]
        last = ""
        for place, (cause, effect) in enumerate(pairwise(path), 2):
            edge = self.edges.get((effect, cause))
            kind = self._kind(effect)
            after = path[place] if place < len(path) else None
            if edge is not None and edge.kind == "DERIVED_FROM" and (writer := self._writer(effect, cause)):
                last = self.program(writer)
                parts.append((" via " if len(parts) == 1 else " -> ") + last + self.how(edge))
            if after is not None and self._goes_without_saying(effect, after):
                continue
            text = self.label(effect)
            if kind == "process":
                if text != last:
                    used = self.how(edge) if edge is not None and edge.kind == "USED" else ""
                    parts.append((" via " if len(parts) == 1 else " -> ") + text + used)
            elif not (kind == "flow" and effect in self.slice.starts):
                parts.append(f" -> {text}{self.marks(effect)}")
            last = text
        if not self.slice.backward and len(self.ids) == 1:
            parts = parts[1:]
        return "".join(parts).removeprefix(" -> ").strip()

    def _writer(self, artifact: str, source: str) -> str | None:
        """The process that copied: of those that wrote the artifact the one that read the source, or runs a program."""
        writers = [edge.head for edge in self.edges.values() if edge.kind == "GENERATED_BY" and edge.tail == artifact]
        writers = sorted(writer for writer in writers if self._kind(writer) == "process")
        read = {edge.tail for edge in self.slice.edges if edge.kind == "USED" and edge.head == source}
        writers.sort(key=lambda writer: (writer not in read, not self.nodes.get(writer, {}).get("executable")))
        return writers[0] if writers else None

    def _goes_without_saying(self, node: str, after: str) -> bool:
        """A name a file had before a rename, a model response that another follows, a socket between two programs."""
        edge = self.edges.get((after, node))
        if edge is not None and edge.kind in ("RENAMED_FROM", "FOLLOWS"):
            return True
        return self._class(node) in _CARRIERS and self._class(node) != "pipe"

    def subject(self) -> str:
        """What was asked about."""
        fields = self.nodes.get(self.ids[0], {})
        if self._kind(self.ids[0]) == "flow" and fields.get("remote"):
            total = sum(int(self.nodes[node].get("bytes") or 0) for node in self.ids if node in self.nodes)  # type: ignore[arg-type]
            way = "sent to" if fields.get("direction") == "out" else "received from"
            count = f" in {len(self.ids)} transfers" if len(self.ids) > 1 else ""
            return f"What was {way} {fields['remote']} ({count_of(total, 'byte')}{count})"
        if len(self.ids) > 1:
            return f"{self.label(self.ids[0], first=True)} and {len(self.ids) - 1} more"
        text = self.label(self.ids[0], first=True) + self.marks(self.ids[0])
        return text[:1].upper() + text[1:] if self._kind(self.ids[0]) != "artifact" else text

    def sentences(self) -> list[str]:
        """The answer in a line for each origin."""
        shown = list(self.paths)
        came = "came from" if self.slice.backward else "went to"
        flows = ", ".join(flow.value for flow in self.slice.flows)
        if not shown:
            lines = [f"{self.subject()}: nothing it {came} is known in the flow {flows}."]
            if self.slice.backward and Flow.DECISION not in self.slice.flows:
                lines.append("What a model passed on is asked for with --flow content,decision.")
        elif len(shown) == 1:
            lines = [f"{self.subject()} {came}: {self.chain(shown[0])}"]
        else:
            lines = [f"{self.subject()} {came}:", *(f"  {self.chain(node)}" for node in shown)]
        more = len([node for node in self.far if not self._folded(node)]) - len(shown)
        if more > 0:
            lines.append(f"  and {count_of(more, 'other')} (--json has them all)")
        if self.slice.backward and not self.slice.gaps and (secrets := self._unreached_secrets()):
            lines.append(f"No path in this flow from what is labelled secret: {', '.join(secrets)}{self._as_far_as()}.")
        return lines

    def _unreached_secrets(self) -> list[str]:
        """Secrets of the workspace that the same traces saw, and that this slice does not reach.

        Said only of a slice without gaps: where something could not be followed, its absence says nothing.
        """
        traces = self._traces()
        rows = self.store.query(_SECRETS, {"traces": traces}).rows if traces else []
        inside = [str(path) for _, path in rows if any(str(path).startswith(folder + "/") for folder in self.folders)]
        reached = {str(path) for node, path in rows if node in self.slice.nodes}
        return [self.path_of(path) for path in dict.fromkeys(inside) if path not in reached][:5]

    def _as_far_as(self) -> str:
        """Absence refutes only inside a coverage without gaps."""
        coverages = [f"coverage:{trace}" for trace in self._traces()]
        rows = self.store.query(_COVERAGES, {"coverages": coverages}).rows
        return "" if rows and all(row[0] for row in rows) else " (as far as the trace could see: its gaps are below)"

    def _traces(self) -> list[str]:
        return sorted({str(fields["trace"]) for fields in self.nodes.values() if fields.get("trace")})

    # ------------------------------------------------------------------------------------------- tree

    def tree(self) -> Tree | None:
        """The paths as a tree from what was asked about."""
        from rich.text import Text
        from rich.tree import Tree

        if not self.paths:
            return None
        top = Tree(Text(short(self.subject(), 160), style="bold"))
        branches: dict[str, Tree] = {}
        for path in self.paths.values():
            above = top
            for before, node in zip([None, *path], path, strict=False):
                if node not in branches:
                    if len(self.ids) == 1 and node == self.ids[0]:
                        branches[node] = top
                    elif before and self._kind(node) == self._kind(before) == "process" and self._one(node, before):
                        branches[node] = branches[before]
                    else:
                        branches[node] = above.add(self._line(node, before))
                above = branches[node]
        if folded := self._toolchain():
            top.add(Text(folded, style="dim"))
        return top

    def _one(self, node: str, other: str) -> bool:
        return self.nodes.get(node, {}).get("process") == self.nodes.get(other, {}).get("process") and self.program(
            node
        ) == self.program(other)

    def _line(self, node: str, before: str | None) -> Any:
        from rich.text import Text

        fields = self.nodes.get(node, {})
        text = Text(short(self.label(node, first=True), 120))
        if self._kind(node) == "process":
            image = self.nodes.get(str(fields.get("image") or ""), fields)
            text = Text(short(image.get("command") or self.program(node), 120), style="cyan")
        if before is not None:
            pair = (before, node) if self.slice.backward else (node, before)
            edge = self.edges.get(pair)
            if edge is not None:
                text = Text(f"{edge.kind.lower().replace('_', ' ')}{self.how(edge)}: ", style="dim") + text
        if fields.get("label") not in (None, "secret"):
            text += Text(f" [{fields['label']}]", style="dim")
        return text + Text(self.marks(node), style="bold red")

    def _toolchain(self) -> str:
        """All programs' own files in one line."""
        sets = [node for node in self.far if self._class(node) == "toolchain"]
        others = Counter(self._kind(node) for node in self.far if self._folded(node) and node not in sets)
        parts: list[str] = []
        if sets:
            files = {str(file) for node in sets for file in self.nodes.get(node, {}).get("members") or ()}  # type: ignore[union-attr]
            parts.append(f"{count_of(len(files), 'toolchain file')} (libraries, the programs themselves)")
        words = {"process": ("program that took in nothing else", "programs that took in nothing else"),
                 "policy": ("policy", "policies"), "authority": ("authority", "authorities"),
                 "modelcall": ("model response", "model responses"), "artifact": ("empty or unnamed carrier", "empty or unnamed carriers")}  # fmt: skip
        parts += [count_of(count, *words.get(kind, (kind, None))) for kind, count in sorted(others.items())]
        return "also: " + ", ".join(parts) if parts else ""

    # ------------------------------------------------------------------------------------------- what is missing

    def unknown(self) -> list[str]:
        """What stands between this answer and certainty."""
        memory = [gap for gap in self.slice.gaps if gap.reason == "through_agent_memory"]
        self._load(gap.about for gap in memory[:5])
        lines = [f"through agent memory: {self.label(gap.about)} {gap.detail}" for gap in memory[:5]]
        if len(memory) > 5:
            lines.append(f"through agent memory: {count_of(len(memory) - 5, 'more place')}")
        lines += [f"cut off: {gap.detail}" for gap in self.slice.gaps if gap.reason == "cut_off"]
        coverages = [f"coverage:{trace}" for trace in self._traces()]
        rows = self.store.query(_GAPS, {"coverages": coverages}).rows if coverages else []
        for reason, about, count, _ in rows:
            times = f" ({count} times)" if isinstance(count, int) and count > 1 else ""
            lines.append(f"{str(reason).replace('_', ' ')}: {about}{times}")
        return lines

    # ------------------------------------------------------------------------------------------- data

    def as_json(self) -> dict[str, Any]:
        """The whole slice."""
        self._load(self.slice.nodes)
        edges = fields_of(self.store, self.slice.edges) if len(self.slice.edges) <= 50_000 else self.slice.edges
        return {
            "target": {"given": self.target, "ids": self.ids},
            "direction": "backward" if self.slice.backward else "forward",
            "flows": [flow.value for flow in self.slice.flows],
            "origins": [self._origin(node) for node in self.far],
            "nodes": [
                {"kind": kind_of(node), "depth": step.depth, **self._fields(node)}
                for node, step in self.slice.nodes.items()
            ],
            "edges": [{"kind": edge.kind, "tail": edge.tail, "head": edge.head, **edge.fields} for edge in edges],
            "gaps": [gap._asdict() for gap in self.slice.gaps],
            "not_known": self.unknown(),
        }

    def _fields(self, node: str) -> dict[str, Any]:
        return {"id": node, **self.nodes.get(node, {})}

    def _origin(self, node: str) -> dict[str, Any]:
        fields = self.nodes.get(node, {})
        names = ("name", "path", "version", "class", "label", "remote", "bytes", "address", "role")
        return {
            "id": node,
            "kind": kind_of(node),
            **{name: fields[name] for name in names if name in fields},
            "bytes_bound": self.slice.bounds.get(node),
            "path_ids": self.slice.path_ids(node),
        }


def compared(explanation: Explanation, found: InputDifference) -> list[str]:
    """The comparison of a failed check with its last pass, in words."""
    command = short(found.command, 80)
    if found.baseline is None:
        return [f"`{command}` failed; {'; '.join(found.notes)}."]
    lines: list[str] = []
    last = found.baseline.rpartition("/")[2]
    where = f"`{short(found.process_command or '', 80)}`" if found.process else "it"
    ended = f" ended with {found.process_signal or found.process_exit}" if found.process else ""
    if found.causes:
        names = ", ".join(f"{explanation.path_of(one.path)} ({one.before} -> {one.now})" for one in found.causes)
        lines.append(f"`{command}` passed before ({last}). What differs and reached the failure: {names}")
        lines.append(f"  the first failing process {where}{ended}")
    else:
        lines.append(f"`{command}` passed before ({last}); {'; '.join(found.notes)}")
        if found.process:
            lines.append(f"  the first failing process {where}{ended}")
    if found.others:
        names = ", ".join(f"{explanation.path_of(one.path)} ({one.before} -> {one.now})" for one in found.others[:10])
        lines.append(f"  differs too, and did not reach it: {names}")
    lines.append(f"  {count_of(found.same, 'input')} in the same version in both")
    lines += [f"  {note}" for note in found.notes if found.causes]
    return lines


def comparison_json(found: InputDifference) -> dict[str, Any]:
    """The same as data."""
    return asdict(found)
