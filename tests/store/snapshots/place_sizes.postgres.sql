SELECT given.key, (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation = given.generation AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash) AS anon_1
FROM (SELECT number - 1 AS key, generation, band, bucket_hash FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2], (%(given)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(generation, band, bucket_hash, number)) AS given
