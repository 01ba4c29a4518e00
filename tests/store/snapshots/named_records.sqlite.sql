SELECT document.doc_key, document.locator
FROM document
WHERE document.source_key = ? AND document.last_seen_run >= ?
