package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

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

// sizes is a store that records the lengths of the objects that are written.
type sizes struct {
	share.Store
	bytes []int
}

func (s *sizes) NewObject(ctx context.Context) (share.Upload, error) {
	u, err := s.Store.NewObject(ctx)
	s.bytes = append(s.bytes, 0)
	return &sizedUpload{u, &s.bytes[len(s.bytes)-1]}, err
}

type sizedUpload struct {
	share.Upload
	n *int
}

func (u *sizedUpload) Write(b []byte) (int, error) {
	*u.n += len(b)
	return u.Upload.Write(b)
}

// BenchmarkPublishToUsable measures the time from the call of Publish until a subscriber answers from
// the version. n = 1,000,000 keys at a rate of 2 %; 0.1 % of the keys are new. "carrier" is the time
// for the same objects without share: written, noticed, and the delta read.
func BenchmarkPublishToUsable(b *testing.B) {
	for _, c := range carriers {
		b.Run(c.name, func(b *testing.B) {
			store, source := c.open(b)
			s := &sizes{Store: store}
			p, verifier := sharetest.Publisher(b, s)
			f, err := bloom.New(1_000_000, 0.02)
			if err != nil {
				b.Fatal(err)
			}
			next := uint64(0)
			add := func(n uint64) {
				for range n {
					f.AddUint64(next)
					next++
				}
			}
			add(500_000)
			sharetest.Publish(b, p, f)
			sub := sharetest.Subscriber(b, source, verifier)
			sharetest.Run(b, sub, time.Second)
			arrives(b, sub, 1)
			total := time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				add(1000)
				s.bytes = s.bytes[:0]
				time.Sleep(2 * time.Millisecond) // The subscriber waits again.
				b.StartTimer()
				begin := time.Now()
				h := sharetest.Publish(b, p, f)
				arrives(b, sub, h.Version)
				total += time.Since(begin)
			}
			b.ReportMetric(total.Seconds()*1000/float64(b.N), "ms/version")
			b.ReportMetric(carrierTime(b, store, source, s.bytes).Seconds()*1000, "ms/carrier")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// arrives waits until a subscriber answers from a version.
func arrives(b *testing.B, s *share.Subscriber, version uint64) {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Microsecond) {
		if v := s.View(); v != nil && v.Head().Version >= version {
			return
		}
		if time.Now().After(end) {
			b.Fatal("the version does not arrive")
		}
	}
}

// carrierTime returns the average time from writing objects of the given lengths and a head until the
// first object is read by a source that watches the head.
func carrierTime(b *testing.B, store share.Store, source share.Source, lengths []int) time.Duration {
	const rounds = 50
	watcher := source.(share.Watcher)
	random := rand.NewChaCha8([32]byte{1})
	total := time.Duration(0)
	head := make([]byte, 450)
	random.Read(head)
	putHead(b, store, string(head))
	for range rounds {
		last := bytes.Clone(head)
		random.Read(head)
		objects := make([][]byte, len(lengths))
		for i, n := range lengths {
			objects[i] = make([]byte, n)
			random.Read(objects[i])
		}
		first := share.RefOf(objects[0]).Hash.String()
		read := make(chan error)
		go func() {
			_, err := watcher.WatchRecord(b.Context(), share.HeadName, last)
			for got := last; err == nil && bytes.Equal(got, last); {
				got, err = watcher.WatchRecord(b.Context(), share.HeadName, last)
			}
			if err == nil {
				err = readObject(b.Context(), source, first)
			}
			read <- err
		}()
		time.Sleep(2 * time.Millisecond)
		begin := time.Now()
		for _, o := range objects {
			putBytes(b, store, o)
		}
		putHead(b, store, string(head))
		if err := <-read; err != nil {
			b.Fatal(err)
		}
		total += time.Since(begin)
	}
	return total / rounds
}

func readObject(ctx context.Context, source share.Source, name string) error {
	body, err := source.Object(ctx, name, 0)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
}

func putBytes(b testing.TB, s share.Store, data []byte) {
	u, err := s.NewObject(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer u.Close()
	if _, err := u.Write(data); err != nil {
		b.Fatal(err)
	}
	if err := u.Commit(b.Context(), share.RefOf(data).Hash.String()); err != nil {
		b.Fatal(err)
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
