SELECT oversized_bucket.band, oversized_bucket.bucket_hash, oversized_bucket.num_contents, oversized_bucket.num_pairs
FROM oversized_bucket
WHERE (SELECT mate.content_key
FROM band_bucket AS mate
WHERE (mate.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND mate.band = oversized_bucket.band AND mate.bucket_hash = oversized_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_1)s::INTEGER OFFSET %(cap)s) IS NULL OR oversized_bucket.band NOT BETWEEN %(first_band)s::SMALLINT AND %(last_band)s::SMALLINT ORDER BY oversized_bucket.band, oversized_bucket.bucket_hash
