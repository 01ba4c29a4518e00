SELECT places.key, (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation = places.generation AND band_bucket.band = places.band AND band_bucket.bucket_hash = places.bucket_hash) AS anon_1
FROM (SELECT number - 1 AS key, generation, band, bucket_hash FROM unnest((%(places)s::BIGINT[])[:][1:1], (%(places)s::BIGINT[])[:][2:2], (%(places)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(generation, band, bucket_hash, number)) AS places
