SELECT document.doc_id, document.doc_key, document.source_key, document.locator, document.dated_at, document.last_seen_run, content.digest
FROM document LEFT OUTER JOIN content ON content.content_key = document.content_key
WHERE document.collection_key = ? AND document.doc_id IN (SELECT given.value
FROM json_each(?) AS given)
