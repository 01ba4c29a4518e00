SELECT document.doc_key, CAST(substr(document.locator, length(?) + ?) AS BIGINT) AS number
FROM document
WHERE document.source_key = ? AND document.last_seen_run >= ? AND substr(document.locator, ?, length(?)) = ?
