// Something that reached the failing program differs.
UNWIND $causes AS x
MATCH (a:Artifact {id: x})
RETURN a.id AS anchor, a.path + ' differs from the last pass, and reached the failing program' AS what
