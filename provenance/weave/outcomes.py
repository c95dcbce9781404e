"""Outcomes: what the agent claimed, what was checked, where the two differ, and which step explains a failure.

of a call     verdict of each check it ran, of a commit; `fail` of a failed command; `refused`
of a turn     the last verdict of each kind of check, unless a change came after it (then it is stale: unknown);
              what the final message claims; how the host or the kernel saw it end
failing step  in a mismatch the refused or failed edit before the failing check, else the failing check; without one, the
              first failed call that was never repaired, if the turn itself did not end well; else none
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenance.identity import node_id
from provenance.records import ToolReturned, TurnEnded
from provenance.weave import checks, claims, oracles
from provenance.weave.builder import Builder, fits, redacted, shortened
from provenance.weave.calls import exit_code, last_answer, output_of, request_of, status_of
from provenance.weave.failures import Checked, Findings, changes_inputs, failing_step
from provenance.weave.oracles import Verdict
from provenance.weave.shell import unwrapped
from provenance.weave.strands import Call, Entry, Turn

if TYPE_CHECKING:
    from provenance.weave.sessions import Told

_ENDS = frozenset(("completed", "failed", "timed_out", "killed", "interrupted", "refused"))
_VERDICT_OF_END = {
    "failed": "fail",
    "timed_out": "fail",
    "killed": "killed",
    "interrupted": "interrupted",
    "refused": "refused",
}
_OPPOSED = frozenset((("fail", "pass"), ("pass", "fail"), ("changed", "unchanged")))
_STATEMENT = 300


@dataclass(frozen=True, slots=True)
class RuntimeEnd:
    """How the agent's own process was seen to end. Decides only where the records tell of no end."""

    time: int | None = None
    """Wall-clock nanoseconds; None where the trace's clock cannot be compared."""
    signal: str | None = None
    """Signal that ended it, e.g. `SIGKILL`."""
    status: int | None = None
    """Exit status, where it exited."""
    complete: bool = True
    """The trace saw the process to its end."""
    source: str | None = None
    """RawRef of the record that tells of it."""
    process: str | None = None
    """Node id of the process, which the store holds already."""
    cut_off: bool = False
    """The trace, read to its end, stops while the process runs: recorder and agent went down together."""

    @property
    def verdict(self) -> str | None:
        """`killed`, `interrupted` or `failed`; None where it decides nothing."""
        if self.cut_off:
            return "killed"
        if not self.complete:
            return None
        if self.signal is not None:
            return "interrupted" if self.signal == "SIGINT" else "killed"
        return "failed" if self.status else None


def judge_session(builder: Builder, told: Told, runtime_end: RuntimeEnd | None) -> None:
    """Write the statuses of turns and session, and all outcomes."""
    _Judging(builder, told, runtime_end).run()


class _Judging:
    def __init__(self, builder: Builder, told: Told, runtime_end: RuntimeEnd | None) -> None:
        self.builder = builder
        self.told = told
        self.runtime_end = runtime_end
        self.turns = [turn for turn in told.turns if turn.node]
        calls: dict[Turn, list[Call]] = {}
        for call in sorted((call for call in told.calls if call.node), key=lambda call: call.ordinal):
            entry = call.called or (call.results[0] if call.results else call.decisions[0])
            if entry.turn is not None:
                calls.setdefault(entry.turn, []).append(call)
        self.found = [Findings(turn, calls.get(turn, [])) for turn in self.turns]

    def run(self) -> None:
        step: str | None = None
        for found in self.found:
            last = found is self.found[-1]
            self._end_turn(found, last)
            self._judge_calls(found)
            self._settle(found, last)
            self._claims(found, last)
            self._contradictions(found)
            step = failing_step(found)
            self.builder.put("Turn", found.turn.node, None, failing_step=step)
        self._end_session(step)

    # Ends

    def _end_turn(self, found: Findings, last: bool) -> None:
        builder, turn = self.builder, found.turn
        begin = turn.started or turn.first
        start = begin.record.time if begin is not None else None
        if start is None:
            start = self._first_time(found)
        builder.put("Turn", turn.node, None, start=fits(start), clock="wall" if fits(start) is not None else None)
        record = turn.ended.record if turn.ended is not None else None
        if isinstance(record, TurnEnded):
            found.status = record.status if record.status in _ENDS else "unknown"
            reason = redacted(record.reason) if record.reason else None
            builder.put("Turn", turn.node, None, status=found.status, reason=reason, end=fits(record.time))
            self._unanswered(found, found.status if found.status == "interrupted" else None, None)
            if found.status in _VERDICT_OF_END:
                verdict = Verdict(_VERDICT_OF_END[found.status], "host", reason or found.status, rule="end recorded")
                node = self._outcome(f"turn/{turn.ordinal}/end", "checked", "run", verdict, turn.ended)
                self._of(node, turn.node, turn.ended, verdict)
            return
        if last and self.told.ended is not None:
            found.status = self.told.ended.status if self.told.ended.status in _ENDS else "unknown"
            builder.put("Turn", turn.node, None, status=found.status, reason="the session's end")
            return
        runtime = self.runtime_end if last else None
        if runtime is not None and runtime.verdict is not None:
            found.status = runtime.verdict
            end = fits(runtime.time)
            builder.put(
                "Turn",
                turn.node,
                None,
                status=found.status,
                reason=runtime.signal or ("cut off" if runtime.cut_off else "the agent ended"),
                end=end,
            )
            if runtime.cut_off:
                builder.gap(
                    "never_captured", f"turn/{turn.ordinal}/end", "how the agent's process ended", turn.node, turn.first
                )
            self._seen_by_kernel(found, runtime)
            return
        builder.put("Turn", turn.node, None, status="unknown")
        builder.gap("never_captured", f"turn/{turn.ordinal}/end", "the end of the turn", turn.node, turn.first)

    def _first_time(self, found: Findings) -> int | None:
        times = [call.called.record.time for call in found.calls if call.called is not None]
        return min((time for time in times if time is not None), default=None)

    def _unanswered(self, found: Findings, status: str | None, end: int | None) -> list[Call]:
        """Calls of the turn that nothing came back of; they get the status of what ended them."""
        calls = [call for call in found.calls if last_answer(call) is None]
        for call in calls if status is not None else ():
            self.builder.put("ToolCall", call.node, None, status=status, end=fits(end))
        return calls

    def _seen_by_kernel(self, found: Findings, runtime: RuntimeEnd) -> None:
        basis, rule, confidence = "observed", "process end", 1.0
        words = f"{runtime.signal or f'exit status {runtime.status}'} ended the agent's process"
        if runtime.cut_off:
            basis, rule, confidence = "inferred", "trace cut off", 0.8
            words = "record and trace both stop while the agent was at work"
        verdict = Verdict(_VERDICT_OF_END[found.status], "kernel", words, rule=rule, confidence=confidence)
        node = self._outcome("runtime", "checked", "run", verdict, None, runtime.time, runtime.source)
        calls = self._unanswered(found, found.status, runtime.time)
        for target in (self.builder.node, found.turn.node, *(call.node for call in calls)):
            self._of(node, target, None, verdict, basis, runtime.source)
        if runtime.process is not None:
            self.builder.link("BASED_ON", node, runtime.process, None, rule, basis=basis, source=runtime.source)

    def _end_session(self, step: str | None) -> None:
        builder, told, runtime = self.builder, self.told, self.runtime_end
        last = self.found[-1] if self.found else None
        status, end, record = "unknown", None, last.turn.ended.record if last and last.turn.ended else None
        if told.ended is not None:
            status = told.ended.status if told.ended.status in _ENDS else "unknown"
            end = told.ended.time if told.ended.time is not None else told.last
        elif last is not None and (record is not None or last.status != "unknown"):
            status = last.status
            end = record.time if record is not None else runtime.time if runtime is not None else None
        elif runtime is not None and runtime.verdict is not None:
            status, end = runtime.verdict, runtime.time
        if status == "unknown":
            builder.gap("never_captured", "end", "the end of the session", builder.node, told.last_entry)
        end = fits(end)
        builder.put("Session", builder.node, None, status=status, end=end, failing_step=step)

    # Verdicts about calls

    def _judge_calls(self, found: Findings) -> None:
        for call in found.calls:
            status = status_of(call)
            entry = last_answer(call)
            if entry is None or status == "running":
                continue
            before = len(found.checked)
            request = request_of(call)
            if request is not None and request.command is not None and status in ("completed", "failed", "timed_out"):
                self._judge_command(found, call, request.command, status)
            if len(found.checked) == before:
                self._judge_plain(found, call, status, entry)

    def _judge_command(self, found: Findings, call: Call, command: str, status: str) -> None:
        text, output, code = unwrapped(command), output_of(call), exit_code(call)
        if code is None:
            code = {"completed": 0, "failed": 1}.get(status)
        by_kind = {check.kind: check for check in checks.checks(text)}
        for kind in checks.KINDS:
            if kind in by_kind:
                self._checked(found, call, kind, oracles.judge(by_kind[kind], code, output))
        commit = oracles.commit(text, code, output)
        if commit is not None:
            self._checked(found, call, "commit", commit)
        tree = oracles.work_tree(text, code, output)
        if tree is not None:
            self._checked(found, call, "run", tree)

    def _judge_plain(self, found: Findings, call: Call, status: str, entry: Entry) -> None:
        answer = entry.record
        assert isinstance(answer, ToolReturned)
        code = exit_code(call)
        if status == "refused":
            verdict = Verdict("refused", "host", answer.error or "refused", rule="refused by the host")
        elif status in ("failed", "timed_out"):
            if code not in (None, 0):
                verdict = Verdict("fail", "exit_status", f"exit status {code}")
            else:
                verdict = Verdict("fail", "host", answer.error or status, rule="status reported")
        elif status in ("interrupted", "killed"):
            verdict = Verdict(status, "host", answer.error or status, rule="status reported")
        else:
            return
        self._checked(found, call, "command", verdict)

    def _checked(self, found: Findings, call: Call, subject: str, verdict: Verdict) -> None:
        entry = last_answer(call)
        node = self._outcome(f"{call.place}/{subject}", "checked", subject, verdict, entry)
        self._of(node, call.node, entry, verdict)
        self.builder.link("BASED_ON", node, call.node, entry, verdict.rule)
        output = self.builder.id("Artifact", "output", call.place)
        if output in self.builder.graph.nodes and verdict.rule not in ("exit status", "refused by the host"):
            self.builder.link("BASED_ON", node, output, entry, verdict.rule)
        found.checked.append(Checked(subject, verdict, node, call))

    def _outcome(
        self,
        place: str,
        kind: str,
        subject: str,
        verdict: Verdict,
        entry: Entry | None,
        time: int | None = None,
        source: str | None = None,
    ) -> str:
        builder = self.builder
        time = fits(entry.record.time if entry is not None else time)
        version = claims.VERSION if verdict.oracle == "agent" else oracles.VERSION
        statement = redacted(verdict.statement)[:_STATEMENT]
        node = builder.put(
            "Outcome",
            builder.id("Outcome", place),
            entry,
            name=shortened(f"{subject} {verdict.verdict} ({kind})"),
            type=kind,
            subject=subject,
            verdict=verdict.verdict,
            statement=statement,
            digest=verdict.digest,
            start=time,
            clock="wall" if time is not None else None,
            **({"source": source} if source is not None else {}),
        )
        oracle = node_id("Oracle", verdict.oracle, version)
        builder.put("Oracle", oracle, None, name=oracles.NAMES[verdict.oracle], type=verdict.oracle, version=version)
        certain = verdict.confidence == 1.0
        builder.link(
            "JUDGED_BY",
            node,
            oracle,
            entry,
            verdict.rule,
            basis="reported" if certain else "inferred",
            confidence=None if certain else verdict.confidence,
            source=source,
        )
        return node

    def _of(
        self,
        node: str,
        target: str,
        entry: Entry | None,
        verdict: Verdict,
        basis: str | None = None,
        source: str | None = None,
    ) -> None:
        certain = verdict.confidence == 1.0
        self.builder.link(
            "OUTCOME_OF",
            node,
            target,
            entry,
            verdict.rule,
            basis=basis or ("reported" if certain else "inferred"),
            confidence=1.0 if basis == "observed" else None if certain else verdict.confidence,
            source=source,
        )

    # Verdicts about turns

    def _settle(self, found: Findings, last: bool) -> None:
        """The last verdict of each subject is the turn's, unless a change came after it."""
        changed = max((call.ordinal for call in found.calls if changes_inputs(call)), default=0)
        for subject in (*checks.KINDS, "commit", "run"):
            of_subject = [item for item in found.checked if item.subject == subject]
            known = [item for item in of_subject if item.verdict.verdict != "unknown"]
            if not of_subject:
                continue
            item = (known or of_subject)[-1]
            stale = subject in checks.KINDS and item.call.ordinal < changed
            entry = last_answer(item.call)
            verdict, node = item.verdict, item.node
            if stale:
                verdict = Verdict(
                    "unknown",
                    verdict.oracle,
                    f"last checked before the last change: {verdict.statement}",
                    0.9,
                    "stale check",
                )
                node = self._outcome(f"turn/{found.turn.ordinal}/{subject}", "checked", subject, verdict, entry)
                self.builder.link("BASED_ON", node, item.call.node, entry, verdict.rule)
            found.final[subject] = Checked(subject, verdict, node, item.call)
            self._of(node, found.turn.node, entry, verdict)
            if last:
                self._of(node, self.builder.node, entry, verdict)

    def _claims(self, found: Findings, last: bool) -> None:
        turn, builder = found.turn, self.builder
        ended = turn.ended.record if turn.ended is not None else None
        content = ended.final_message if isinstance(ended, TurnEnded) else None
        entry, artifact = self.told.finals.get(turn, (None, None))
        said = getattr(entry.record, "content", None) if entry is not None else None
        if content is None and last and self.told.ended is not None:
            content = self.told.ended.final_message
        if content is None:
            content = said
        elif said is None or said.digest != content.digest:
            artifact = None
        if content is None or not content.preview.strip():
            return
        entry = entry or turn.ended or self.told.ended_entry
        for claim in claims.claims(content.preview):
            verdict = Verdict(claim.verdict, "agent", claim.statement, claim.confidence, claim.rule)
            node = self._outcome(
                f"turn/{turn.ordinal}/claimed/{claim.subject}", "claimed", claim.subject, verdict, entry
            )
            self._of(node, turn.node, entry, verdict)
            if last:
                self._of(node, builder.node, entry, verdict)
            builder.link("BASED_ON", node, artifact or turn.node, entry, "final message")
            found.claimed[claim.subject] = (claim, node)

    def _contradictions(self, found: Findings) -> None:
        for subject, item in found.final.items():
            claim, confidence = found.claimed.get(subject), 0.95
            if claim is None and subject in ("test", "build", "type_check") and item.verdict.verdict == "fail":
                claim, confidence = found.claimed.get("run"), 0.7  # "Fixed." while the check fails
            if item.verdict.verdict == "changed":
                confidence = 0.6  # it may have been so before the turn
            if claim is None or (item.verdict.verdict, claim[0].verdict) not in _OPPOSED:
                continue
            self.builder.link(
                "CONTRADICTS",
                item.node,
                claim[1],
                last_answer(item.call),
                "verdicts oppose",
                basis="inferred",
                confidence=confidence,
            )
            if item.verdict.verdict == "fail":
                found.mismatch.append(item)
