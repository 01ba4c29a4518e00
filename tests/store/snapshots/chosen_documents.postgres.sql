SELECT one.doc_key
FROM decision JOIN document AS one ON one.collection_key = decision.collection_key AND one.doc_id = decision.doc_id
WHERE decision.kind = %(kind_1)s::VARCHAR ORDER BY decision.decided_at, decision.decision_key
