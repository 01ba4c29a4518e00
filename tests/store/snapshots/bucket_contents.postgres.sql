SELECT staged_bucket.band, staged_bucket.bucket_hash, band_bucket.content_key
FROM staged_bucket JOIN band_bucket ON band_bucket.band = staged_bucket.band AND band_bucket.bucket_hash = staged_bucket.bucket_hash ORDER BY staged_bucket.band, staged_bucket.bucket_hash, band_bucket.content_key
