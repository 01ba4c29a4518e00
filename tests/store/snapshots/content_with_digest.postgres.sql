SELECT min(content.content_key) AS content_key
FROM (SELECT number - 1 AS key, generation, band, bucket_hash FROM unnest((%(places)s::BIGINT[])[:][1:1], (%(places)s::BIGINT[])[:][2:2], (%(places)s::BIGINT[])[:][3:3]) WITH ORDINALITY AS unfolded(generation, band, bucket_hash, number)) AS places JOIN band_bucket ON band_bucket.generation = places.generation AND band_bucket.band = places.band AND band_bucket.bucket_hash = places.bucket_hash JOIN content ON content.content_key = band_bucket.content_key
WHERE content.digest = %(digest)s
