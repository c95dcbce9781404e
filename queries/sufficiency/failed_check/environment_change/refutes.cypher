// Something else differs, or nothing, and no configuration among it.
UNWIND $causes AS x
MATCH (a:Artifact {id: x})
WHERE $n_environment_causes = 0
RETURN a.id AS anchor, 'what differs and reached the failing program is ' + a.path + ', and no configuration' AS what
UNION
MATCH (p:Process {id: $process})
WHERE $answer = 'no_difference'
RETURN p.id AS anchor, 'every input that reached the failing program is as it was at the last pass' AS what
