(band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND band_bucket.band = %(band)s::SMALLINT AND band_bucket.bucket_hash = %(bucket_hash)s::BIGINT
