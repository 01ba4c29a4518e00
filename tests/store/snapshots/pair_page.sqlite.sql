SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM pair
WHERE (pair.left_key, pair.right_key) > (?, ?) AND coalesce(pair.run_key, ?) >= ? ORDER BY pair.left_key, pair.right_key
 LIMIT ? OFFSET ?
