SELECT given.key
FROM (SELECT number - 1 AS key, band, bucket_hash FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2]) WITH ORDINALITY AS unfolded(band, bucket_hash, number)) AS given JOIN oversized_bucket ON oversized_bucket.band = given.band AND oversized_bucket.bucket_hash = given.bucket_hash
