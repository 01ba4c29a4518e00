"""Runs of words that documents of a test side share with documents of a training side.

    test texts -> Sought (numbered N-grams) ;  training texts -> Part (their N-grams among these) -> Findings -> Overlap

The training side is read once and never held. Every answer is exact: N-grams are found by hash and compared by words.
Imports the kernels only when it is used.
"""
