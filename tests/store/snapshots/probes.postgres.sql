INSERT INTO staged_probe (band, bucket_hash, content_key, limit_key) SELECT staged_bucket.band, staged_bucket.bucket_hash, staged_bucket.content_key, CASE WHEN ((SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_1)s::INTEGER OFFSET %(cap)s) IS NULL OR staged_bucket.content_key < (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_2)s::INTEGER OFFSET %(hubs)s)) THEN %(param_3)s::BIGINT WHEN (staged_bucket.content_key < (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_1)s::INTEGER OFFSET %(cap)s)) THEN (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_1)s::INTEGER OFFSET %(cap)s) ELSE (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_2)s::INTEGER OFFSET %(hubs)s) END AS limit_key
FROM staged_bucket
WHERE (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT %(param_4)s::INTEGER OFFSET %(param_5)s::INTEGER) IS NOT NULL
