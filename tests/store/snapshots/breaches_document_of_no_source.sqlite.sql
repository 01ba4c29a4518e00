SELECT document.doc_key, document.collection, document.doc_id, document.source_key, document.locator, document.content_key, document.dated_at, document.first_seen_run, document.last_seen_run
FROM document
WHERE document.source_key IS NOT NULL AND NOT (EXISTS (SELECT source.source_key
FROM source
WHERE source.source_key = document.source_key)) ORDER BY document.doc_key
