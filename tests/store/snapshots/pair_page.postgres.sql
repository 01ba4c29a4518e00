SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM pair
WHERE (pair.left_key, pair.right_key) > (%(left_key)s, %(right_key)s) ORDER BY pair.left_key, pair.right_key
 LIMIT %(count)s
