SELECT given."key", given.value, bucket_generation.generation, (SELECT CASE WHEN (bucket_filter.band = given."key" + ?) THEN bucket_filter.bits ELSE substr(bucket_filter.bits, 1, 0) END AS anon_2
FROM bucket_filter
WHERE bucket_filter.generation = bucket_generation.generation AND (bucket_filter.band, bucket_filter.last_hash) >= (given."key" + ?, given.value + 0) ORDER BY bucket_filter.band, bucket_filter.last_hash
 LIMIT ? OFFSET ?) AS anon_1
FROM json_each(?) AS given JOIN bucket_generation ON bucket_generation.merges_into = ?
