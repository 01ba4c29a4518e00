SELECT content.content_key
FROM (SELECT number - 1 AS key, generation, band, bucket_hash FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2], (%(given)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(generation, band, bucket_hash, number)) AS given JOIN band_bucket ON band_bucket.generation = given.generation AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash JOIN content ON content.content_key = band_bucket.content_key
WHERE content.digest = %(digest)s
