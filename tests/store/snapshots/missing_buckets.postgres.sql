SELECT given.band, given.bucket_hash, given.content_key
FROM (SELECT number - 1 AS key, band, bucket_hash, content_key FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2], (%(given)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(band, bucket_hash, content_key, number)) AS given
WHERE NOT (EXISTS (SELECT band_bucket.content_key
FROM band_bucket
WHERE (band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash AND band_bucket.content_key = given.content_key)) ORDER BY given.key
