SELECT band_bucket.bucket_hash, count(*) AS count_1, string_agg(CAST(band_bucket.content_key AS VARCHAR), __[POSTCOMPILE_aggregate_strings_2]) AS aggregate_strings_1
FROM band_bucket
WHERE (band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND band_bucket.band = %(band)s::SMALLINT AND band_bucket.bucket_hash BETWEEN %(first)s::BIGINT AND %(last)s::BIGINT GROUP BY band_bucket.bucket_hash
HAVING count(*) > %(count_2)s::INTEGER ORDER BY band_bucket.bucket_hash
