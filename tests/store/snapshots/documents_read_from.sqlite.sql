SELECT document.doc_key
FROM document
WHERE document.source_key = ? AND document.last_seen_run >= ? ORDER BY document.doc_key
