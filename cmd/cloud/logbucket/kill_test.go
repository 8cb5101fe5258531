//go:build unix

package logbucket_test

import (
	"math/rand/v2"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/cloud/logbucket"
	"github.com/umbel-filters/umbel/cmd/cloud/s3test"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

func TestMain(m *testing.M) {
	mediumtest.Main(logbucket.Open)
	os.Exit(m.Run())
}

// Three processes share a log in a bucket that needs 20 ms for a request and fails one of fifty, and are killed and
// stopped. UMBEL_LONG=1: for ten minutes.
func TestKill(t *testing.T) {
	d := 15 * time.Second
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		d = 10 * time.Minute
	case testing.Short():
		t.Skip("runs three processes for 15 seconds")
	}
	mediumtest.Kill(t, logbucket.Open, s3test.Start(t, 20*time.Millisecond, 0.02), d, nil)
}

// BenchmarkCommit commits batches of 768 KiB, four at a time as the journal of a node does, in a bucket that needs 20
// ms for a request. A digest has 16 bytes.
func BenchmarkCommit(b *testing.B) {
	u, err := url.Parse(s3test.Start(b, 20*time.Millisecond, 0))
	if err != nil {
		b.Fatal(err)
	}
	m, err := logbucket.Open(b.Context(), u)
	if err != nil {
		b.Fatal(err)
	}
	l, err := sharedlog.Open(b.Context(), m, sharedlog.Position{}, sharedlog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	d, err := l.Claim(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(d.Close)
	batch := make([]byte, 768<<10)
	rand.NewChaCha8([32]byte{}).Read(batch)
	for b.Loop() {
		for range 4 {
			if _, err := d.Propose(b.Context(), batch, nil); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(4*b.N*len(batch)/16)/b.Elapsed().Seconds(), "additions/s")
}
