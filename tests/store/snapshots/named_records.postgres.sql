SELECT document.doc_key, document.locator
FROM document
WHERE document.source_key = %(source_key)s::BIGINT AND document.last_seen_run >= %(since)s::BIGINT
