SELECT band_bucket.bucket_hash, count(*) AS num_contents
FROM band_bucket
WHERE band_bucket.band = ? GROUP BY band_bucket.bucket_hash
HAVING count(*) > ? ORDER BY band_bucket.bucket_hash
