SELECT one.content_key AS left_key, other.content_key AS right_key
FROM decision JOIN document AS one ON one.collection_key = decision.collection_key AND one.doc_id = decision.doc_id JOIN document AS other ON other.collection_key = decision.other_collection_key AND other.doc_id = decision.other_id
WHERE one.content_key != other.content_key
