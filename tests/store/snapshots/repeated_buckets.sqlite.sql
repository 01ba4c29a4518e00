SELECT band_bucket.bucket_hash, count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation = ? AND band_bucket.band = ? GROUP BY band_bucket.bucket_hash
HAVING count(*) > ? ORDER BY band_bucket.bucket_hash
