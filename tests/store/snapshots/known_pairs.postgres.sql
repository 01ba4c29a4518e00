SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM (SELECT number - 1 AS key, left_key, right_key FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2]) WITH ORDINALITY AS unfolded(left_key, right_key, number)) AS given JOIN pair ON pair.left_key = given.left_key AND pair.right_key = given.right_key
