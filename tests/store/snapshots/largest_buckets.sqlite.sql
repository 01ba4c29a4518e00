SELECT sizes.num_contents, ? AS num_skipped, ? AS band, sizes.bucket_hash
FROM (SELECT band_bucket.bucket_hash AS bucket_hash, count(*) AS num_contents
FROM band_bucket
WHERE (band_bucket.generation IN (SELECT generation FROM bucket_generation)) AND band_bucket.band = ? GROUP BY band_bucket.bucket_hash
HAVING count(*) > ?) AS sizes ORDER BY sizes.num_contents DESC, sizes.bucket_hash
 LIMIT ? OFFSET ?
