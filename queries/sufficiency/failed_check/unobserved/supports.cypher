// Nothing that reached the failing program differs.
MATCH (p:Process {id: $process})
WHERE $answer = 'no_difference'
RETURN p.id AS anchor, 'every input that reached the failing program is as it was at the last pass' AS what
