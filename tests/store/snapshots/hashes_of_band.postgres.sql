SELECT band_bucket.bucket_hash
FROM band_bucket
WHERE band_bucket.generation = %(generation)s::SMALLINT AND band_bucket.band = %(band)s::SMALLINT ORDER BY band_bucket.bucket_hash
