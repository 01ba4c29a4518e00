SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact, pair.run_key
FROM pair
WHERE pair.run_key IS NOT NULL AND NOT (EXISTS (SELECT run.run_key
FROM run
WHERE run.run_key = pair.run_key)) ORDER BY pair.left_key, pair.right_key
