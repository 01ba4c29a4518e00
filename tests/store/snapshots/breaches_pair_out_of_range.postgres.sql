SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact, pair.run_key
FROM pair
WHERE pair.similarity < %(floor)s ORDER BY pair.left_key, pair.right_key
