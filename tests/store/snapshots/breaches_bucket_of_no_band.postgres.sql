SELECT band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
FROM band_bucket
WHERE NOT (band_bucket.band BETWEEN %(lowest)s::SMALLINT AND %(highest)s::SMALLINT OR band_bucket.band = %(band_1)s::SMALLINT) ORDER BY band_bucket.generation, band_bucket.band, band_bucket.bucket_hash, band_bucket.content_key
