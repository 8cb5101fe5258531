package distinct

import (
	"math"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
)

func digest(i int) umbel.Digest { return umbel.Hasher{}.HashUint64(uint64(i)) }

// The set has each digest once, in the order of the first additions. Digests that a user chose may
// differ in few bits, and one of them is zero.
func TestSet(t *testing.T) {
	for name, digest := range map[string]func(int) umbel.Digest{
		"hashes": digest,
		"H1":     func(i int) umbel.Digest { return umbel.Digest{H1: uint64(i)} },
		"H2":     func(i int) umbel.Digest { return umbel.Digest{H2: uint64(i) << 40} },
	} {
		var s Set
		const n = 10_000
		for i := range 3 * n {
			if at := s.Add(digest(i % n)); at != uint32(i%n) {
				t.Fatalf("%s: digest %d has index %d", name, i%n, at)
			}
		}
		for i, d := range s.Digests() {
			if d != digest(i) {
				t.Fatalf("%s: digest %d is %v", name, i, d)
			}
		}
		if got := len(s.Digests()); got != n {
			t.Errorf("%s: %d digests, want %d", name, got, n)
		}
		if b := s.Bytes(); b < 20*n || b > 32*n {
			t.Errorf("%s: %d bytes", name, b)
		}
	}
}

// The estimate is within four standard errors at every size, from none on; for few digests it is
// nearly exact.
func TestEstimate(t *testing.T) {
	var s Sketch
	n := 0
	for _, to := range []int{0, 1, 10, 1000, 20_000, 100_000, 300_000, 1_000_000, 3_000_000} {
		for ; n < to; n++ {
			s.Add(digest(n))
			s.Add(digest(n / 2))
		}
		got, margin := s.Estimate(), 4*Error*float64(n)
		if n <= 1000 {
			margin = 0.01 * float64(n)
		}
		if math.Abs(got-float64(n)) > margin+1e-6 {
			t.Errorf("%d digests: estimate %.0f", n, got)
		}
	}
}

// The relative error of many sketches has the documented standard deviation, and no bias.
func TestError(t *testing.T) {
	const sketches, n = 40, 100_000
	var sum, squares float64
	for i := range sketches {
		var s Sketch
		for j := range uint64(n) {
			s.Add(umbel.Hasher{}.HashUint64(uint64(i)<<32 | j))
		}
		e := s.Estimate()/n - 1
		sum, squares = sum+e, squares+e*e
	}
	mean, deviation := sum/sketches, math.Sqrt(squares/sketches)
	if math.Abs(mean) > 4*Error/math.Sqrt(sketches) || deviation > 1.5*Error {
		t.Errorf("mean %.5f, deviation %.5f, want 0 and at most %.5f", mean, deviation, Error)
	}
}

func BenchmarkSet(b *testing.B) {
	ds := make([]umbel.Digest, 1<<20)
	for i := range ds {
		ds[i] = digest(i % (1 << 18))
	}
	for b.Loop() {
		var s Set
		for _, d := range ds {
			s.Add(d)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ds)), "ns/digest")
}

// Capacity is the number of digests whose Set has that size, whether room was reserved or not.
func TestCapacity(t *testing.T) {
	for _, bytes := range []uint64{0, 4096, 5000, 20_000, 65_536, 100_000, 1 << 20, 1<<20 + 1} {
		for _, reserved := range []bool{false, true} {
			var s Set
			n := Capacity(bytes)
			if reserved {
				s.Reserve(n)
			}
			for i := range n {
				s.Add(digest(int(i)))
			}
			if s.Bytes() > bytes && n > 0 {
				t.Errorf("%d digests need %d bytes, want at most %d", n, s.Bytes(), bytes)
			}
			if s.Add(digest(-1)); s.Bytes() <= bytes {
				t.Errorf("%d digests need %d bytes, want more than %d", n+1, s.Bytes(), bytes)
			}
		}
	}
}

// Sketches that several goroutines fill have the estimate of one sketch.
func TestSketches(t *testing.T) {
	const n, workers, batch = 40_000, 4, 1000
	var want Sketch
	var got Sketches
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * batch; i < n; i += workers * batch {
				var ds []umbel.Digest
				for j := range batch {
					ds = append(ds, digest(i+j))
				}
				got.AddAll(ds)
			}
		})
	}
	for i := range n {
		want.Add(digest(i))
	}
	wg.Wait()
	if got.Estimate() != want.Estimate() {
		t.Errorf("estimate %v, want %v", got.Estimate(), want.Estimate())
	}
	if new(Sketches).Estimate() != 0 {
		t.Error("empty sketches have digests")
	}
}
