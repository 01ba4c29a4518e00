SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact, pair.run_key
FROM pair
WHERE pair.similarity NOT BETWEEN %(floor)s AND %(similarity_1)s ORDER BY pair.left_key, pair.right_key
