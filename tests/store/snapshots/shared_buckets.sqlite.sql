SELECT band_bucket.bucket_hash, count(*) AS count_1, group_concat(CAST(band_bucket.content_key AS VARCHAR), __[POSTCOMPILE_aggregate_strings_2]) AS aggregate_strings_1
FROM band_bucket
WHERE (band_bucket.generation IN (SELECT generation FROM bucket_generation)) AND band_bucket.band = ? AND band_bucket.bucket_hash BETWEEN ? AND ? GROUP BY band_bucket.bucket_hash
HAVING count(*) > ? ORDER BY band_bucket.bucket_hash
