SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM staged_pair JOIN pair ON pair.left_key = staged_pair.left_key AND pair.right_key = staged_pair.right_key ORDER BY staged_pair.left_key, staged_pair.right_key
