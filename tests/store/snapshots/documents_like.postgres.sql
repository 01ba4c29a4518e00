SELECT document.doc_id, document.source_key, content.digest
FROM document JOIN source ON source.source_key = document.source_key LEFT OUTER JOIN content ON content.content_key = document.content_key
WHERE document.collection_key = (SELECT of_source.collection_key
FROM source AS of_source
WHERE of_source.source_key = %(source_key)s::BIGINT) AND document.doc_id IN (SELECT given.value
FROM (SELECT number - 1 AS key, value FROM unnest(ARRAY(SELECT json_array_elements_text(%(given)s::JSON))) WITH ORDINALITY AS unfolded(value, number)) AS given) AND document.last_seen_run >= source.reading_run
