SELECT skipped_bucket.band, skipped_bucket.bucket_hash, skipped_bucket.num_contents, skipped_bucket.num_pairs
FROM skipped_bucket
WHERE (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = skipped_bucket.band AND mate.bucket_hash = skipped_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_1)s::INTEGER OFFSET %(cap)s) IS NULL OR skipped_bucket.band NOT BETWEEN %(first_band)s::SMALLINT AND %(last_band)s::SMALLINT ORDER BY skipped_bucket.band, skipped_bucket.bucket_hash
