package share_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// large is a bloom filter of a number of MiB that is half full.
func large(b testing.TB, mib, k uint64) *bloom.Filter {
	b.Helper()
	f, err := bloom.Kind.New(umbel.Goal{}, umbel.Params{{Name: "m", Value: umbel.Uint(mib << 23)}, {Name: "k", Value: umbel.Uint(k)}})
	if err != nil {
		b.Fatal(err)
	}
	words := f.State().Arrays[0].Words
	x := uint64(1)
	for i := range words {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		words[i] = x
	}
	return f.(*bloom.Filter)
}

// BenchmarkHas compares queries at a subscriber, while versions are swapped 100 times per second, with
// queries of the filter itself. The two alternate, and ratio is the quotient of the medians. Half of
// the keys are present.
func BenchmarkHas(b *testing.B) {
	for _, mib := range []uint64{1, 64} {
		f := large(b, mib, 7)
		digests := make([]umbel.Digest, 1<<16)
		for i := range digests {
			digests[i] = f.Hasher().HashUint64(uint64(i))
			if i%2 == 0 {
				f.Add(digests[i])
			}
		}
		p := newPair(b)
		p.publish(f.State())
		s := p.subscriber(share.SubscriberOptions{})
		update(b, s)
		bare := s.View().Filter()
		b.Run("MiB="+strconv.FormatUint(mib, 10), func(b *testing.B) {
			defer swapping(b, p, s)()
			b.ReportAllocs()
			const n = 2000
			count, at := 0, 0
			var bareTime, times []float64
			queries := func(d []umbel.Digest) time.Duration {
				begin := time.Now()
				for _, d := range d {
					if has, err := s.Has(d); has && err == nil {
						count++
					}
				}
				return time.Since(begin)
			}
			bareQueries := func(d []umbel.Digest) time.Duration {
				begin := time.Now()
				for _, d := range d {
					if bare.Has(d) {
						count++
					}
				}
				return time.Since(begin)
			}
			for b.Loop() {
				at = (at + n) % (len(digests) - n)
				d := digests[at : at+n]
				queries(d) // loads the cells
				first, second, third := bareQueries(d), queries(d), bareQueries(d)
				bareTime = append(bareTime, float64(first+third)/2/n)
				times = append(times, float64(second)/n)
			}
			slices.Sort(bareTime)
			slices.Sort(times)
			median := len(times) / 2
			b.ReportMetric(bareTime[median], "filter-ns")
			b.ReportMetric(times[median]/bareTime[median], "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// swapping renews and updates 100 times per second until the returned function is called.
func swapping(b *testing.B, p *pair, s *share.Subscriber) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				return
			case <-time.After(10 * time.Millisecond):
			}
			if _, err := p.p.Renew(b.Context()); err != nil {
				b.Error(err)
			}
			if err := s.Update(b.Context()); err != nil {
				b.Error(err)
			}
		}
	}()
	return func() { close(end); <-done }
}
