package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
)

// benchKeys is how many keys a request has.
const benchKeys = 1 << 16

// BenchmarkKeys queries keys of 16 bytes on a server on the loopback, in each form, in a
// filter for a million.
func BenchmarkKeys(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var keys [benchKeys]string
	for i := range keys {
		keys[i] = fmt.Sprintf("%016x", random.Uint64())
	}
	bodies := map[string]*bytes.Buffer{api.MediaJSON: bytes.NewBufferString(`{"keys":["`), api.MediaLines: {}, api.MediaText: {}, api.MediaDigests: {}}
	for i, k := range keys {
		if i > 0 {
			bodies[api.MediaJSON].WriteString(`","`)
		}
		bodies[api.MediaJSON].WriteString(k)
		fmt.Fprintf(bodies[api.MediaLines], "%q\n", k)
		fmt.Fprintln(bodies[api.MediaText], k)
		bodies[api.MediaDigests].WriteString(digestsOf(umbel.Hasher{}.HashString(k)))
	}
	bodies[api.MediaJSON].WriteString(`"]}`)

	e := engine.New(engine.Options{Kinds: filter.All})
	if _, _, err := e.Create("f", "bloom", umbel.Goal{Keys: 1e6, FPRate: 0.01}, nil); err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(New(Options{Engine: e}))
	defer s.Close()
	for _, verb := range []string{"add", "has"} {
		for _, media := range []string{api.MediaDigests, api.MediaText, api.MediaLines, api.MediaJSON} {
			for _, prefer := range []string{"return=representation", "return=minimal"} {
				b.Run(verb+"/"+media+"/"+prefer, func(b *testing.B) {
					for b.Loop() {
						r, err := http.NewRequestWithContext(b.Context(), "POST", s.URL+"/v1/filters/f/"+verb, bytes.NewReader(bodies[media].Bytes()))
						if err != nil {
							b.Fatal(err)
						}
						r.Header.Set("Content-Type", media)
						r.Header.Set("Prefer", prefer)
						answer, err := s.Client().Do(r)
						if err != nil {
							b.Fatal(err)
						}
						n, err := io.Copy(io.Discard, answer.Body)
						answer.Body.Close()
						if err != nil || answer.StatusCode != 200 || n == 0 {
							b.Fatal(answer.Status, n, err)
						}
					}
					b.ReportMetric(float64(b.N)*benchKeys/b.Elapsed().Seconds(), "keys/s")
				})
			}
		}
	}
}

// BenchmarkParse takes keys off a stream that is there.
func BenchmarkParse(b *testing.B) {
	for media, body := range map[string][]byte{
		api.MediaText:    bytes.Repeat([]byte("0123456789abcdef\n"), batchKeys),
		api.MediaLines:   bytes.Repeat([]byte("\"0123456789abcdef\"\n"), batchKeys),
		api.MediaDigests: bytes.Repeat([]byte("0123456789abcdef"), batchKeys),
	} {
		b.Run(media, func(b *testing.B) {
			s := stream{codec: codecs[media], text: keys.Text{Format: keys.Lines}}
			s.batch.Digests = make([]umbel.Digest, 0, batchKeys)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.parse(body, true); err != nil || len(s.batch.Digests) != batchKeys {
					b.Fatal(len(s.batch.Digests), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batchKeys, "ns/key")
		})
	}
}
