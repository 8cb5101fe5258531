//go:build unix

package logbucket_test

import (
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/umbel-filters/umbel/cmd/cloud/logbucket"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

func TestMain(m *testing.M) {
	mediumtest.Main(logbucket.Open)
	os.Exit(m.Run())
}

// slowS3 starts a server of S3 that needs 20 ms for each request, and fails some, and returns the URL of a log in it.
func slowS3(t testing.TB, fails float64) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s3 := gofakes3.New(backend).Server()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		switch x := rand.Float64(); {
		case x < fails/2:
			http.Error(w, "slow down", http.StatusServiceUnavailable)
			return
		case x < fails:
			s3.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // after it has done what was requested
		}
		s3.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return "s3://bucket/groups/one?region=test&use_path_style=true&endpoint=" + url.QueryEscape(server.URL)
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
	mediumtest.Kill(t, logbucket.Open, slowS3(t, 0.02), d, nil)
}

// BenchmarkCommit commits batches of 768 KiB, four at a time as the journal of a node does, in a bucket that needs 20
// ms for a request. A digest has 16 bytes.
func BenchmarkCommit(b *testing.B) {
	u, err := url.Parse(slowS3(b, 0))
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
