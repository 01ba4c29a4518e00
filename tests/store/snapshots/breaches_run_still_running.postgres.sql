SELECT run.run_key, run.verb, run.collection, run.state, run.started_at, run.finished_at, run.lshdb_version, run.num_added, run.num_updated, run.num_unchanged, run.num_removed, run.num_empty, run.num_rejected, run.num_replaced, run.num_contents, run.num_bytes
FROM run
WHERE run.state = %(state_1)s::VARCHAR AND run.finished_at IS NOT NULL ORDER BY run.run_key
