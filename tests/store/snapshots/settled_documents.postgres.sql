WITH found AS
(SELECT min(content.content_key) AS content_key
FROM (SELECT number - 1 AS key, generation, band, bucket_hash FROM unnest((%(places)s::BIGINT[])[:][1:1], (%(places)s::BIGINT[])[:][2:2], (%(places)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(generation, band, bucket_hash, number)) AS places JOIN band_bucket ON band_bucket.generation = places.generation AND band_bucket.band = places.band AND band_bucket.bucket_hash = places.bucket_hash JOIN content ON content.content_key = band_bucket.content_key
WHERE content.digest = %(digest)s AND NOT (EXISTS (SELECT unlinked.content_key
FROM unlinked)) AND NOT (EXISTS (SELECT given.key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN oversized_bucket ON oversized_bucket.band = given.key + %(first_band)s::BIGINT AND oversized_bucket.bucket_hash = given.value)))
 SELECT mates.content_key, mates.similarity, mates.exact, document.doc_id, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection
FROM (SELECT (SELECT found.content_key
FROM found) AS content_key, 1.0 AS similarity, true AS exact UNION ALL SELECT pair.right_key AS right_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.left_key = (SELECT found.content_key
FROM found) AND pair.similarity >= %(min_sim)s UNION ALL SELECT pair.left_key AS left_key, pair.similarity AS similarity, pair.exact AS exact
FROM pair
WHERE pair.right_key = (SELECT found.content_key
FROM found) AND pair.similarity >= %(min_sim)s) AS mates JOIN document ON document.content_key = mates.content_key ORDER BY mates.content_key, document.doc_key
