SELECT pair.left_key AS content_key, pair.right_key AS mate_key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN pair ON pair.left_key = given.value
WHERE pair.similarity >= %(min_sim)s ORDER BY given.key
