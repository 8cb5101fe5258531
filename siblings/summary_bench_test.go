//go:build unix

package siblings

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// BenchmarkSummary is the time to publish 1,000 changes, half of them additions, of a cache that holds n responses. At one version per
// second the CPU's share is the CPU time, divided by a second.
func BenchmarkSummary(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			key, _, err := share.NewKey("example.org/bench")
			if err != nil {
				b.Fatal(err)
			}
			m, err := New(b.Context(), Options{Key: key, Token: "0123456789abcdef", MaxHeld: 10_000_000})
			if err != nil {
				b.Fatal(err)
			}
			keys := make([]Key, n+n/2)
			for i := range keys {
				keys[i] = Key(fmt.Sprintf("http://www.example.org/path/of/some/length/%d", i))
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			until := time.Now().Add(100 * time.Hour)
			for _, k := range keys[:n] {
				m.held.Added(k, until)
			}
			m.held.changed = nil
			m.held.all = true
			runtime.GC()
			runtime.ReadMemStats(&after)
			if err := m.publish(b.Context()); err != nil {
				b.Fatal(err)
			}
			i, bytes, versions, cpu := 0, uint64(0), 0, cpuTime(b)
			for b.Loop() {
				for range 500 {
					m.held.Removed(keys[i%len(keys)])
					m.held.Added(keys[(i+n)%len(keys)], until)
					i++
				}
				if err := m.publish(b.Context()); err != nil {
					b.Fatal(err)
				}
				if deltas := m.publisher.Head().Deltas; len(deltas) > 0 {
					bytes += deltas[0].Bytes
					versions++
				}
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "heap-B/key")
			b.ReportMetric(8*float64(bytes)/float64(max(versions, 1))/1000, "bits/change")
		})
	}
}

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
