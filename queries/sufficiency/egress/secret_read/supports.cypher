// A secret is among what the content came from.
UNWIND $secrets AS x
MATCH (a:Artifact {id: x})
RETURN a.id AS anchor, 'the content came from ' + a.path + ', which is labelled secret' AS what, $call AS step
