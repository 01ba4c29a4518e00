SELECT given.band, given.bucket_hash, given.content_key
FROM (SELECT number - 1 AS key, band, bucket_hash, content_key FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2], (%(given)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(band, bucket_hash, content_key, number)) AS given LEFT OUTER JOIN band_bucket ON band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash AND band_bucket.content_key = given.content_key
WHERE band_bucket.content_key IS NULL ORDER BY given.key
