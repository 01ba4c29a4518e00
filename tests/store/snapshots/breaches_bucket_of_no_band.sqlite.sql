SELECT band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
FROM band_bucket
WHERE NOT (band_bucket.band BETWEEN ? AND ? OR band_bucket.band = ?) ORDER BY band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
