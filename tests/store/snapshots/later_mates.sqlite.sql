SELECT pair.left_key AS content_key, pair.right_key AS mate_key
FROM json_each(?) AS given JOIN pair ON pair.left_key = given.value
WHERE pair.similarity >= ? ORDER BY given."key"
