SELECT given."key", given.value, bucket_generation.generation, (SELECT bucket_filter.bits
FROM bucket_filter
WHERE bucket_filter.generation = bucket_generation.generation AND bucket_filter.band = given."key" + ? AND bucket_filter.last_hash >= given.value ORDER BY bucket_filter.last_hash
 LIMIT ? OFFSET ?) AS anon_1
FROM json_each(?) AS given JOIN bucket_generation ON 1 = 1
