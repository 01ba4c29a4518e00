SELECT pair.left_key, pair.right_key
FROM pair
WHERE pair.similarity >= ?
