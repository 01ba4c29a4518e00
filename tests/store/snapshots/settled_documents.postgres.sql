SELECT mates.content_key, mates.similarity, mates.exact, document.doc_id, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection
FROM (SELECT %(content_key)s::BIGINT AS content_key, 1.0 AS similarity, true AS exact
WHERE NOT (EXISTS (SELECT unlinked.content_key
FROM unlinked)) AND NOT (EXISTS (SELECT given.key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN oversized_bucket ON oversized_bucket.band = given.key + %(first_band)s::BIGINT AND oversized_bucket.bucket_hash = given.value)) UNION ALL SELECT pair.right_key AS right_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.left_key = %(content_key)s::BIGINT AND pair.similarity >= %(min_sim)s UNION ALL SELECT pair.left_key AS left_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.right_key = %(content_key)s::BIGINT AND pair.similarity >= %(min_sim)s) AS mates JOIN document ON document.content_key = mates.content_key ORDER BY mates.content_key, document.doc_key
