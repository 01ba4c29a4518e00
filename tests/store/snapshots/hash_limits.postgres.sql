SELECT (SELECT min(band_bucket.bucket_hash) AS min_1
FROM band_bucket
WHERE band_bucket.generation = bucket_generation.generation AND band_bucket.band = %(band)s::SMALLINT) AS anon_1, (SELECT max(band_bucket.bucket_hash) AS max_1
FROM band_bucket
WHERE band_bucket.generation = bucket_generation.generation AND band_bucket.band = %(band)s::SMALLINT) AS anon_2
FROM bucket_generation
