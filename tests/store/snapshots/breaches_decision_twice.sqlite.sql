SELECT decision.decision_key, decision.kind, decision.collection_key, decision.doc_id, decision.other_collection_key, decision.other_id, decision.who, decision.reason, decision.decided_at
FROM decision
WHERE EXISTS (SELECT later.decision_key
FROM decision AS later
WHERE later.doc_id = decision.doc_id AND later.collection_key = decision.collection_key AND coalesce(later.other_id, ?) = coalesce(decision.other_id, ?) AND coalesce(later.other_collection_key, ?) = coalesce(decision.other_collection_key, ?) AND later.decision_key > decision.decision_key) ORDER BY decision.decision_key
