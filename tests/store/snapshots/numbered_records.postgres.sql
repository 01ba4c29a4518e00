SELECT document.doc_key, CAST(substr(document.locator, length(%(unit)s::VARCHAR) + %(length_1)s::INTEGER) AS BIGINT) AS number
FROM document
WHERE document.source_key = %(source_key)s::BIGINT AND document.last_seen_run >= %(since)s::BIGINT AND substr(document.locator, %(substr_1)s::INTEGER, length(%(unit)s::VARCHAR)) = %(unit)s::VARCHAR
