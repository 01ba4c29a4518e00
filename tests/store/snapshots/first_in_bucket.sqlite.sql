SELECT band_bucket.content_key
FROM band_bucket
WHERE band_bucket.band = ? AND band_bucket.bucket_hash = ? ORDER BY band_bucket.content_key
 LIMIT ? OFFSET ?
