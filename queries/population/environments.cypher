// title: Environments and versions
// question: With which agent, model, repository state, sandbox and environment did each session run?
// :column session - id
// :column agent - program
// :column version - its version
// :column model - model first used
// :column provider - who serves the model
// :column entrypoint - how it was started
// :column git_commit - commit checked out at the start
// :column git_branch - branch at the start
// :column cwd - its folder
// :column sandbox - boundary as the host names it; null: none told
// :column network - network access of the boundary
// :column writable - where it may write
// :column environment - digest of what the host described of the place
// :column details - that description
MATCH (s:Session)
OPTIONAL MATCH (s)-[:RAN_IN]->(b:Sandbox)
OPTIONAL MATCH (s)-[:RAN_IN]->(e:Environment)
RETURN s.id AS session, s.agent AS agent, s.agent_version AS version, s.model AS model, s.model_provider AS provider,
       s.entrypoint AS entrypoint, s.git_commit AS git_commit, s.git_branch AS git_branch, s.cwd AS cwd, b.mode AS sandbox,
       b.network AS network, b.writable_roots AS writable, e.digest AS environment, e.details AS details
ORDER BY session, sandbox, network, environment
