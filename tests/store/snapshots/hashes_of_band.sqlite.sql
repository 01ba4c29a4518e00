SELECT band_bucket.bucket_hash
FROM band_bucket
WHERE band_bucket.generation = ? AND band_bucket.band = ? ORDER BY band_bucket.bucket_hash
