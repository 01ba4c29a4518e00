SELECT staged_range.ordinal, document.doc_id, document.content_key, document.dated_at
FROM staged_range JOIN document ON document.doc_key = (SELECT within.doc_key
FROM document AS within
WHERE within.collection_key = ? AND within.doc_id >= staged_range.first_id AND within.doc_id < staged_range.end_id ORDER BY within.doc_id DESC
 LIMIT ? OFFSET ?)
