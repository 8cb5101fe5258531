package heavy

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
)

// Metwally, Agrawal and El Abbadi 2005, lemmas 3 and 4 and theorem 2: counts are
// bounded from both sides, errors by the mean count, and what comes more often than
// that is there. Of a stream by Zipf's law the most frequent digests are found.
func TestSpaceSaving(t *testing.T) {
	const counters, total = 200, 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 1, 50_000)
	s := New(counters)
	truth := map[umbel.Digest]uint64{}
	for range total {
		d := umbel.Digest{H1: zipf.Uint64()}
		s.Add(d)
		truth[d]++
	}
	items := s.Items()
	if len(items) != counters || s.Total() != total {
		t.Fatalf("%d items of %d digests, want %d of %d", len(items), s.Total(), counters, total)
	}
	found := map[umbel.Digest]bool{}
	for i, item := range items {
		found[item.Digest] = true
		if n := truth[item.Digest]; n > item.Count || n < item.Count-item.Error || item.Error > total/counters {
			t.Errorf("digest %v came %d times, counted %d with an error of %d", item.Digest, n, item.Count, item.Error)
		}
		if i > 0 && item.Count-item.Error > items[i-1].Count-items[i-1].Error {
			t.Errorf("item %d came more often than the one before it", i)
		}
	}
	for d, n := range truth {
		if n > total/counters && !found[d] {
			t.Errorf("digest %v came %d times and isn't there", d, n)
		}
	}
	for i := range uint64(10) {
		if items[i].Digest.H1 >= 15 {
			t.Errorf("item %d is digest %v, want one of the first few", i, items[i].Digest)
		}
	}
}

// As long as the counters last, counts are exact.
func TestExactWhileRoom(t *testing.T) {
	s := New(3)
	for _, h := range []uint64{1, 2, 2, 3, 3, 3} {
		s.Add(umbel.Digest{H1: h})
	}
	for i, item := range s.Items() {
		if h := uint64(3 - i); item != (Item{umbel.Digest{H1: h}, h, 0}) {
			t.Errorf("item %d is %+v, want digest %d, %d times", i, item, h, h)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 1<<24)
	ds := make([]umbel.Digest, 1<<20)
	for i := range ds {
		ds[i].H1 = zipf.Uint64()
	}
	s := New(1 << 16)
	i := 0
	for b.Loop() {
		s.Add(ds[i])
		i = (i + 1) % len(ds)
	}
}
