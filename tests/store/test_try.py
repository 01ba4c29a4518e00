from lshdb import Index, Document

def test_it(url):
    with Index.ensure(url, {}) as ix:
        r=ix.add([Document("a","the quick brown fox jumps over the lazy dog and runs away into the forest"),Document("b","the quick brown fox jumps over the lazy dog and runs away into the forest again"),Document("c","the quick brown fox jumps over the lazy dog and runs away into the forest")])
        assert len(list(ix.pairs(0.5)))==2
        assert len(list(ix.pairs(0.5,expand=True)))==3
        print(ix.query_id("a"), ix.query(Document("q","the quick brown fox jumps over the lazy dog and runs away into the woods"),.5))
        print(ix.remove(["a","c"]), list(ix.pairs(.5)))
        print(ix.verify(), ix.stats().figures)
