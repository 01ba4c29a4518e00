SELECT fingerprint_block.prefix, fingerprint_block.first_content_key, fingerprint_block.entries
FROM fingerprint_block
WHERE fingerprint_block.prefix >= %(first)s::INTEGER ORDER BY fingerprint_block.prefix, fingerprint_block.first_content_key
 LIMIT %(count)s
