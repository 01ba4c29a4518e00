SELECT pair.left_key AS content_key, pair.right_key AS mate_key
FROM staged_key JOIN pair ON pair.left_key = staged_key.staged_key
WHERE pair.similarity >= %(min_sim)s ORDER BY staged_key.staged_key
