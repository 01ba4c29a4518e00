SELECT staged_bucket.band, staged_bucket.bucket_hash, staged_bucket.content_key
FROM staged_bucket LEFT OUTER JOIN band_bucket ON band_bucket.band = staged_bucket.band AND band_bucket.bucket_hash = staged_bucket.bucket_hash AND band_bucket.content_key = staged_bucket.content_key
WHERE band_bucket.content_key IS NULL ORDER BY staged_bucket.band, staged_bucket.bucket_hash, staged_bucket.content_key
