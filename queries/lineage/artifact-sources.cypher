// title: Direct sources of an artifact
// question: What did this version's content directly come from: which writer, copy, rename or older version?
// :param artifact: string - id of the artifact version
// :column how - kind of the edge
// :column source - id of the process, call, artifact or transfer it came from
// :column name - its name
// :column rule - the call or rule that tells
// :column bytes - bytes that moved, where known
// :column basis - observed, reported or inferred
// :column confidence - 0 to 1
MATCH (a:Artifact {id: $artifact})-[e:GENERATED_BY|DERIVED_FROM|RENAMED_FROM|REVISION_OF]->(x)
RETURN type(e) AS how, x.id AS source, x.name AS name, e.rule AS rule, e.bytes AS bytes, e.basis AS basis,
       e.confidence AS confidence
ORDER BY how, source
