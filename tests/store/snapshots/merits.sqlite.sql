SELECT document.content_key, document.doc_key, document.doc_id, coalesce(document.dated_at, source.mtime_ns / ?) AS merit
FROM staged_key JOIN document ON document.content_key = staged_key.staged_key LEFT OUTER JOIN source ON source.source_key = document.source_key
WHERE ? IS NULL OR document.collection = ? ORDER BY staged_key.staged_key, document.doc_key
