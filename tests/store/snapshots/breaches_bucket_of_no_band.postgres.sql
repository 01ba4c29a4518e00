SELECT band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
FROM band_bucket
WHERE band_bucket.band < %(lowest)s::SMALLINT OR band_bucket.band > %(highest)s::SMALLINT ORDER BY band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
