(band_bucket.generation IN (SELECT generation FROM bucket_generation)) AND band_bucket.band = ? AND band_bucket.bucket_hash = ?
