package mem

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
)

// Every length around a multiple of a piece is copied and cleared completely, and nothing beyond it.
func TestCopyAndClear(t *testing.T) {
	for _, n := range []int{0, 1, Piece - 1, Piece, Piece + 1, 2 * Piece, 3*Piece + 7} {
		src, dst := make([]uint64, n), make([]uint64, n+1)
		for i := range src {
			src[i] = uint64(i) + 1
		}
		dst[n] = 7
		Copy(dst, src)
		if !slices.Equal(dst[:n], src) || dst[n] != 7 {
			t.Errorf("%d words are not copied as they are", n)
		}
		Clear(dst[:n])
		if slices.ContainsFunc(dst[:n], func(w uint64) bool { return w != 0 }) || dst[n] != 7 {
			t.Errorf("%d words are not cleared", n)
		}
	}
}

// BenchmarkCopy reports the longest time in milliseconds that the runtime waited for a goroutine that copies
// 256 MiB, when it stopped the program:
//
//	go test ./internal/mem -run - -bench Copy
func BenchmarkCopy(b *testing.B) {
	src, dst := make([]uint64, 32<<20), make([]uint64, 32<<20)
	copy(dst, src) // takes the memory from the system
	for _, c := range []struct {
		name string
		copy func(dst, src []uint64)
	}{{"pieces", Copy}, {"whole", func(dst, src []uint64) { copy(dst, src) }}} {
		b.Run(fmt.Sprintf("copy/%s/n=%d", c.name, len(src)), func(b *testing.B) {
			b.SetBytes(int64(8 * len(src)))
			before := stops()
			end, ended := make(chan bool), make(chan bool)
			go func() {
				defer close(ended)
				for {
					select {
					case <-end:
						return
					case <-time.After(time.Millisecond):
						var m runtime.MemStats
						runtime.ReadMemStats(&m) // it stops the program
					}
				}
			}()
			for b.Loop() {
				c.copy(dst, src)
			}
			close(end)
			<-ended
			longest := 0.0
			after := stops()
			for i, n := range after.Counts {
				if n > before.Counts[i] {
					longest = after.Buckets[i+1]
				}
			}
			b.ReportMetric(1000*longest, "ms/stop")
		})
	}
}

// stops returns the distribution of the times that the runtime needed to stop the program.
func stops() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/stopping/other:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}
