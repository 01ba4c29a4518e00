SELECT document.doc_key
FROM document
WHERE document.source_key = %(source_key)s::BIGINT AND document.last_seen_run >= %(since)s::BIGINT ORDER BY document.doc_key
