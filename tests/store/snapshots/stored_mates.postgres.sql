SELECT pair.right_key, pair.similarity, pair.exact
FROM pair
WHERE pair.left_key = %(content_key)s::BIGINT AND pair.similarity >= %(min_sim)s UNION ALL SELECT pair.left_key, pair.similarity, pair.exact
FROM pair
WHERE pair.right_key = %(content_key)s::BIGINT AND pair.similarity >= %(min_sim)s
