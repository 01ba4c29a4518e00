SELECT decision.decision_key, decision.kind, decision.doc_id, (SELECT collection.name
FROM collection
WHERE collection.collection_key = decision.collection_key) AS collection, decision.other_id, (SELECT collection.name
FROM collection
WHERE collection.collection_key = decision.other_collection_key) AS other_collection, decision.who, decision.reason, decision.decided_at, decision.digest, decision.other_digest, one.doc_key AS one_key, one_text.digest AS one_text, other.doc_key AS other_key, other_text.digest AS other_text
FROM decision LEFT OUTER JOIN document AS one ON one.collection_key = decision.collection_key AND one.doc_id = decision.doc_id LEFT OUTER JOIN document AS other ON other.collection_key = decision.other_collection_key AND other.doc_id = decision.other_id LEFT OUTER JOIN content AS one_text ON one_text.content_key = one.content_key LEFT OUTER JOIN content AS other_text ON other_text.content_key = other.content_key
