SELECT given.band, given.bucket_hash, (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash) AS anon_1
FROM (SELECT CAST(bands.key AS INTEGER) AS band, hashes.value AS bucket_hash FROM json_each(?) AS bands, json_each(bands.value) AS hashes) AS given
WHERE (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash) >= ?
