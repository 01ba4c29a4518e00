SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM pair
WHERE (pair.left_key, pair.right_key) > (%(left_key)s, %(right_key)s) AND coalesce(pair.run_key, %(coalesce_1)s::BIGINT) >= %(since)s::BIGINT ORDER BY pair.left_key, pair.right_key
 LIMIT %(count)s
