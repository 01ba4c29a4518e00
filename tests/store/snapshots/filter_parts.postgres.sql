SELECT given.key, given.value, bucket_generation.generation, (SELECT CASE WHEN (bucket_filter.band = given.key + %(first_band)s::BIGINT) THEN bucket_filter.bits ELSE substr(bucket_filter.bits, 1, 0) END AS anon_2
FROM bucket_filter
WHERE bucket_filter.generation = bucket_generation.generation AND (bucket_filter.band, bucket_filter.last_hash) >= (given.key + %(first_band)s::BIGINT, given.value + 0) ORDER BY bucket_filter.band, bucket_filter.last_hash
 LIMIT %(param_1)s::INTEGER) AS anon_1
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN bucket_generation ON bucket_generation.merges_into IS NULL
