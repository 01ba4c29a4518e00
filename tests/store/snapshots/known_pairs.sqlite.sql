SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM (SELECT key, json_extract(value, '$[0]') AS left_key, json_extract(value, '$[1]') AS right_key FROM json_each(?)) AS given JOIN pair ON pair.left_key = given.left_key AND pair.right_key = given.right_key
