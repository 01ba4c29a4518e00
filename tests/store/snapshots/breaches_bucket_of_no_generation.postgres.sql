SELECT band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
FROM band_bucket
WHERE NOT (band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) ORDER BY band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
