SELECT given.band, given.bucket_hash, (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash) AS anon_1
FROM (SELECT number - 1 AS key, band, bucket_hash FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2]) WITH ORDINALITY AS unfolded(band, bucket_hash, number)) AS given
WHERE (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash) >= %(least)s::INTEGER
