// title: Coverage
// question: What could each source see, and is anything known to be missing in it?
// :column coverage - id
// :column source - source it is about
// :column complete - nothing is known to be missing inside it
// :column lost - events lost or lines not understood
// :column attached_late - it began inside a running process
// :column environment - environment variables captured
// :column processes - processes seen
// :column calls - classes of system calls that were shown
// :column sessions - sessions whose effects it could see
MATCH (v:Coverage)-[:RECORDED_IN]->(r:Source)
OPTIONAL MATCH (s:Session)-[:COVERED_BY]->(v)
RETURN v.id AS coverage, r.name AS source, v.complete AS complete, v.lost AS lost, v.attached_late AS attached_late,
       v.environment AS environment, v.processes AS processes, v.calls AS calls, collect(DISTINCT s.id) AS sessions
ORDER BY coverage
