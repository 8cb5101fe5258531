package web_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
)

// carriers return a store and the source that reads it.
var carriers = []struct {
	name string
	open func(b *testing.B) (share.Store, share.Source)
}{
	{"memory", func(*testing.B) (share.Store, share.Source) {
		s := new(share.Memory)
		return s, s
	}},
	{"directory", func(b *testing.B) (share.Store, share.Source) {
		path := b.TempDir()
		return directory(b, path), dir.Open(path)
	}},
	{"http", func(b *testing.B) (share.Store, share.Source) {
		s := new(share.Memory)
		return s, client(b, serve(b, web.NewHandler(s, web.HandlerOptions{})))
	}},
}

// BenchmarkPublishToUsable measures the time from the call of Publish until a subscriber answers.
func BenchmarkPublishToUsable(b *testing.B) {
	for _, c := range carriers {
		b.Run(c.name, func(b *testing.B) { sharetest.PublishToUsable(b, c.open) })
	}
}

// largeFilter is a filter of 64 MB, half full, so packing hardly makes it smaller.
func largeFilter(b *testing.B) umbel.Filter {
	f, err := bloom.Kind.New(umbel.Goal{}, umbel.Params{{Name: "m", Value: umbel.Uint(64_000_000 * 8)}, {Name: "k", Value: umbel.Uint(7)}})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := f.State().Arrays[0].Words
	for i := range words {
		words[i] = random.Uint64()
	}
	return f
}

// BenchmarkStartUp compares a new subscriber's first update of a filter of 64 MB with copying its
// packed bytes from the same server to memory.
func BenchmarkStartUp(b *testing.B) {
	s := new(share.Memory)
	p, verifier := sharetest.Publisher(b, s)
	sharetest.Publish(b, p, largeFilter(b))
	largest, bytes := "", 0
	for name := range s.Objects(b.Context()) {
		body, err := s.Object(b.Context(), name, 0)
		if err != nil {
			b.Fatal(err)
		}
		if n := body.(interface{ Size() int64 }).Size(); int(n) > bytes {
			largest, bytes = name, int(n)
		}
	}
	base := serve(b, web.NewHandler(s, web.HandlerOptions{}))
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		for b.Loop() {
			r, err := http.Get(fmt.Sprintf("%s/objects/%s", base, largest))
			if err != nil {
				b.Fatal(err)
			}
			data := make([]byte, bytes)
			if _, err := io.ReadFull(r.Body, data); err != nil {
				b.Fatal(err)
			}
			r.Body.Close()
		}
	})
	b.Run("subscriber", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		for b.Loop() {
			sub := sharetest.Subscriber(b, client(b, base), verifier)
			if err := sub.Update(b.Context()); err != nil {
				b.Fatal(err)
			}
			sub.Close()
		}
	})
}
