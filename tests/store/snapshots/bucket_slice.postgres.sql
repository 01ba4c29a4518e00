SELECT string_agg(CAST(band_bucket.bucket_hash AS VARCHAR), __[POSTCOMPILE_aggregate_strings_2]) AS aggregate_strings_1, string_agg(CAST(band_bucket.content_key AS VARCHAR), __[POSTCOMPILE_aggregate_strings_4]) AS aggregate_strings_3
FROM band_bucket
WHERE (band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND band_bucket.band = %(band)s::SMALLINT AND band_bucket.bucket_hash BETWEEN %(first)s::BIGINT AND %(last)s::BIGINT
