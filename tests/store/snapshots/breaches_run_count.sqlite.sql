SELECT run.run_key, run.verb, run.collection, run.state, run.started_at, run.finished_at, run.lshdb_version, run.num_added, run.num_updated, run.num_unchanged, run.num_removed, run.num_empty, run.num_rejected, run.num_replaced, run.num_contents, run.num_bytes
FROM run
WHERE run.num_added < ? OR run.num_updated < ? OR run.num_unchanged < ? OR run.num_removed < ? OR run.num_empty < ? OR run.num_rejected < ? OR run.num_replaced < ? OR run.num_contents < ? OR run.num_bytes < ? ORDER BY run.run_key
