SELECT band_bucket.bucket_hash, count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation = %(generation)s::SMALLINT AND band_bucket.band = %(band)s::SMALLINT GROUP BY band_bucket.bucket_hash
HAVING count(*) > %(count_2)s::INTEGER ORDER BY band_bucket.bucket_hash
