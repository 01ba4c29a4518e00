INSERT INTO staged_probe (band, bucket_hash, content_key, limit_key) SELECT staged_bucket.band, staged_bucket.bucket_hash, staged_bucket.content_key, CASE WHEN ((SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT ? OFFSET ?) IS NULL OR staged_bucket.content_key < (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT ? OFFSET ?)) THEN ? WHEN (staged_bucket.content_key < (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT ? OFFSET ?)) THEN (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT ? OFFSET ?) ELSE (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT ? OFFSET ?) END AS limit_key
FROM staged_bucket
WHERE (SELECT mate.content_key
FROM band_bucket AS mate
WHERE mate.band = staged_bucket.band AND mate.bucket_hash = staged_bucket.bucket_hash ORDER BY mate.content_key
 LIMIT ? OFFSET ?) IS NOT NULL
