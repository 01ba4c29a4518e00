SELECT fingerprint_block.prefix, fingerprint_block.first_content_key, fingerprint_block.entries
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN fingerprint_block ON fingerprint_block.prefix = given.value
