SELECT given.key, given.value, bucket_generation.generation, (SELECT bucket_filter.bits
FROM bucket_filter
WHERE bucket_filter.generation = bucket_generation.generation AND bucket_filter.band = given.key + %(first_band)s::BIGINT AND bucket_filter.last_hash >= given.value ORDER BY bucket_filter.last_hash
 LIMIT %(param_1)s::INTEGER) AS anon_1
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN bucket_generation ON true
