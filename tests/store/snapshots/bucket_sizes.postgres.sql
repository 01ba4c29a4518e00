SELECT band_bucket.bucket_hash, count(*) AS num_contents
FROM band_bucket
WHERE band_bucket.band = %(band)s::SMALLINT GROUP BY band_bucket.bucket_hash
HAVING count(*) > %(count_1)s::INTEGER ORDER BY band_bucket.bucket_hash
