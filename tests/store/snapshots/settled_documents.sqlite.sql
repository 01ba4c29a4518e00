WITH found AS
(SELECT min(content.content_key) AS content_key
FROM (SELECT key, json_extract(value, '$[0]') AS generation, json_extract(value, '$[1]') AS band, json_extract(value, '$[2]') AS bucket_hash FROM json_each(?)) AS places JOIN band_bucket ON band_bucket.generation = places.generation AND band_bucket.band = places.band AND band_bucket.bucket_hash = places.bucket_hash JOIN content ON content.content_key = band_bucket.content_key
WHERE content.digest = ? AND NOT (EXISTS (SELECT unlinked.content_key
FROM unlinked)) AND NOT (EXISTS (SELECT given."key"
FROM json_each(?) AS given JOIN oversized_bucket ON oversized_bucket.band = given."key" + ? AND oversized_bucket.bucket_hash = given.value)))
 SELECT mates.content_key, mates.similarity, mates.exact, document.doc_id, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection
FROM (SELECT (SELECT found.content_key
FROM found) AS content_key, 1.0 AS similarity, 1 AS exact UNION ALL SELECT pair.right_key AS right_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.left_key = (SELECT found.content_key
FROM found) AND pair.similarity >= ? UNION ALL SELECT pair.left_key AS left_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.right_key = (SELECT found.content_key
FROM found) AND pair.similarity >= ?) AS mates JOIN document ON document.content_key = mates.content_key ORDER BY mates.content_key, document.doc_key
