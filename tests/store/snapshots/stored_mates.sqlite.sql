SELECT pair.right_key, pair.similarity, pair.exact
FROM pair
WHERE pair.left_key = ? AND pair.similarity >= ? UNION ALL SELECT pair.left_key, pair.similarity, pair.exact
FROM pair
WHERE pair.right_key = ? AND pair.similarity >= ?
