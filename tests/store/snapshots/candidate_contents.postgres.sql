SELECT DISTINCT band_bucket.content_key
FROM (SELECT anon_1.number - 1 AS key, anon_1.value AS value
FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS anon_1(value, number)) AS given JOIN band_bucket ON band_bucket.band = given.key + %(first_band)s::BIGINT AND band_bucket.bucket_hash = given.value
