SELECT fingerprint_block.prefix, fingerprint_block.first_content_key, fingerprint_block.entries
FROM json_each(?) AS given JOIN fingerprint_block ON fingerprint_block.prefix = given.value
