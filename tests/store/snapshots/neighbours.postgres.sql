SELECT document.doc_id, mates.similarity, mates.exact, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection
FROM (SELECT %(content_key)s::BIGINT AS content_key, 1.0 AS similarity, true AS exact UNION ALL SELECT pair.right_key AS right_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.left_key = %(content_key)s::BIGINT AND pair.similarity >= %(min_sim)s UNION ALL SELECT pair.left_key AS left_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.right_key = %(content_key)s::BIGINT AND pair.similarity >= %(min_sim)s) AS mates JOIN document ON document.content_key = mates.content_key ORDER BY mates.similarity DESC, document.doc_key
