SELECT coalesce(sum((sizes.num_contents * (sizes.num_contents - ?)) / ?), ?) AS coalesce_1
FROM (SELECT band_bucket.bucket_hash AS bucket_hash, count(*) AS num_contents
FROM band_bucket
WHERE band_bucket.band = ? GROUP BY band_bucket.bucket_hash
HAVING count(*) > ?) AS sizes
