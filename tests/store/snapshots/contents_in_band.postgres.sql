SELECT given.key, band_bucket.content_key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN band_bucket ON (band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND band_bucket.band = given.key * %(key_1)s::BIGINT + %(band)s::BIGINT AND band_bucket.bucket_hash = given.value
