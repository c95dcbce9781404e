// title: Policies in force
// question: Which policy versions governed each turn, or the turn that was going on at a time?
// :param session: string = "" - only of this session (id); empty: all
// :param at: integer = 0 - only of turns going on at this time, ns of the wall clock; 0: any time
// :column session - the session
// :column turn - position of the turn in it
// :column type - what the policy governs
// :column details - its settings
// :column since - when the turn was first told to be under it, ns
// :column start - begin of the turn, ns
// :column finish - end of the turn, ns; null: not seen
// :column policy - id; its last part names the version
MATCH (p:Policy)<-[e:GOVERNED_BY]-(t:Turn)-[:PART_OF]->(s:Session)
WHERE ($session = '' OR s.id = $session)
  AND ($at = 0 OR (t.clock = 'wall' AND t.start <= $at AND coalesce(t.end, $at) >= $at))
RETURN s.id AS session, t.ordinal AS turn, p.type AS type, p.details AS details, e.first AS since, t.start AS start,
       t.end AS finish, p.id AS policy
ORDER BY session, turn, type, policy
