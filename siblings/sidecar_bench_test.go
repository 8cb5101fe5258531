//go:build unix

package siblings_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSidecar is a miss over loopback: of a client that requests a kilobyte from the origin, directly and
// through a sidecar with ten siblings. The cost of the sidecar is the difference; that of Go's reverse proxy,
// which has no siblings, is for comparison. The CPU time is that of the whole process: client, sidecar and origin.
func BenchmarkSidecar(b *testing.B) {
	body := make([]byte, 1000)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		w.Write(body)
	}))
	defer origin.Close()
	m, _ := benchNode(b, 10)
	h, err := m.Sidecar(address(origin.URL))
	if err != nil {
		b.Fatal(err)
	}
	sidecar := httptest.NewServer(h)
	defer sidecar.Close()
	plain := httptest.NewServer(httputil.NewSingleHostReverseProxy(address(origin.URL)))
	defer plain.Close()
	for name, url := range map[string]string{"direct": origin.URL, "proxy": plain.URL, "sidecar": sidecar.URL} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			i := 0
			before := cpuTime(b)
			for b.Loop() {
				start := time.Now()
				res, err := http.Get(fmt.Sprintf("%s/none/%d", url, i))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				took = append(took, time.Since(start))
				i++
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(i), "cpu-µs/op")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
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
