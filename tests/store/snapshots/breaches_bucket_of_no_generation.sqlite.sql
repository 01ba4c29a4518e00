SELECT band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
FROM band_bucket
WHERE (band_bucket.generation IN (SELECT generation FROM bucket_generation)) = 0 ORDER BY band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
