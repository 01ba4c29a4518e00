SELECT given.key, band_bucket.content_key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN band_bucket ON band_bucket.generation = given.key * %(key_1)s::BIGINT + %(generation)s::BIGINT AND band_bucket.band = given.key * %(key_2)s::BIGINT + %(band)s::BIGINT AND band_bucket.bucket_hash = given.value
