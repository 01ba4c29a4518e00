SELECT (SELECT collection.name
FROM collection
WHERE collection.collection_key = same.collection_key) AS collection, same.doc_id
FROM decision JOIN document AS named ON named.collection_key = decision.other_collection_key AND named.doc_id = decision.other_id JOIN document AS same ON same.content_key = named.content_key
WHERE decision.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(collection)s::VARCHAR COLLATE "C") AND decision.doc_id = %(doc_id)s::VARCHAR COLLATE "C" UNION ALL SELECT (SELECT collection.name
FROM collection
WHERE collection.collection_key = same.collection_key) AS collection, same.doc_id
FROM decision JOIN document AS named ON named.collection_key = decision.collection_key AND named.doc_id = decision.doc_id JOIN document AS same ON same.content_key = named.content_key
WHERE decision.other_collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(collection)s::VARCHAR COLLATE "C") AND decision.other_id = %(doc_id)s::VARCHAR COLLATE "C"
