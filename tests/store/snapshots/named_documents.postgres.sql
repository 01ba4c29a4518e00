SELECT document.doc_id, document.doc_key
FROM document
WHERE document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(collection)s::VARCHAR COLLATE "C") AND document.doc_id IN (SELECT given.value
FROM (SELECT number - 1 AS key, value FROM unnest(ARRAY(SELECT json_array_elements_text(%(given)s::JSON))) WITH ORDINALITY AS unfolded(value, number)) AS given)
