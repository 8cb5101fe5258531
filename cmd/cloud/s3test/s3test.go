// Package s3test has a server of S3 for tests.
package s3test

import (
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Start starts a server that runs until the test ends, and returns the URL of a prefix in its bucket. Each request takes a
// time. A part of them fails, before or after the server has done what was requested. It sets the credentials in the environment.
func Start(t testing.TB, delay time.Duration, fails float64) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s3 := gofakes3.New(backend).Server()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		switch x := rand.Float64(); {
		case x < fails/2:
			http.Error(w, "slow down", http.StatusServiceUnavailable)
		case x < fails:
			s3.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			s3.ServeHTTP(w, r)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return "s3://bucket/groups/one?region=test&use_path_style=true&endpoint=" + url.QueryEscape(server.URL)
}
