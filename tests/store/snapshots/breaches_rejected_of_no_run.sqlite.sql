SELECT rejected.rejected_key, rejected.run_key, rejected.source, rejected.locator, rejected.reason
FROM rejected
WHERE NOT (EXISTS (SELECT run.run_key
FROM run
WHERE run.run_key = rejected.run_key)) ORDER BY rejected.rejected_key
