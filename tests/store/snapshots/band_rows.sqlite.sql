SELECT band_bucket.bucket_hash, band_bucket.content_key
FROM band_bucket
WHERE (band_bucket.generation IN (SELECT generation FROM bucket_generation)) AND band_bucket.band = ? ORDER BY band_bucket.bucket_hash, band_bucket.content_key
