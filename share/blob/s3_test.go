package blob_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// server is an S3 server on the loopback interface. Requests go through its handler, which tests
// replace in order to inject faults.
type server struct {
	url     string
	s3      http.Handler
	handler atomic.Pointer[http.HandlerFunc] // nil: requests go to s3
}

// handle replaces the handler.
func (s *server) handle(h http.HandlerFunc) { s.handler.Store(&h) }

func newServer(t testing.TB) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s := &server{s3: gofakes3.New(backend).Server()}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := s.handler.Load(); h != nil {
			(*h)(w, r)
			return
		}
		s.s3.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// bucket opens the bucket of the server.
func (s *server) bucket(t testing.TB) *blob.Bucket {
	t.Helper()
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(s.url), UsePathStyle: true, Region: "test",
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		Retryer:     aws.NopRetryer{},
	})
	b, err := s3blob.OpenBucket(t.Context(), client, "bucket", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
