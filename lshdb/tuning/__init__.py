"""Which bands find how much at what cost: the choice, the recall measured, the curve, other bands for an index."""
