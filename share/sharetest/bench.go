package sharetest

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// PublishToUsable is a benchmark of a carrier: the time from the call of Publish until a subscriber
// answers from the version, the median over the versions. n = 1,000,000 keys at a rate of 2 %; 0.1 % of the keys are new.
// "ms/carrier" is the time for the same objects without package share: written, noticed, and the delta
// read. If the source is not a share.Watcher, the head is read as soon as it has been written.
func PublishToUsable(b *testing.B, open func(b *testing.B) (share.Store, share.Source)) {
	store, source := open(b)
	s := &sizes{Store: store}
	p, verifier := Publisher(b, s)
	f, err := bloom.New(1_000_000, 0.02)
	if err != nil {
		b.Fatal(err)
	}
	next := uint64(0)
	add := func(n uint64) {
		for range n {
			umbel.AddKey(f, next)
			next++
		}
	}
	add(500_000)
	Publish(b, p, f)
	sub := Subscriber(b, source, verifier)
	if err := sub.Update(b.Context()); err != nil {
		b.Fatal(err)
	}
	_, watches := source.(share.Watcher)
	if watches {
		Run(b, sub, time.Second)
	}
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		add(1000)
		s.bytes = s.bytes[:0]
		time.Sleep(2 * time.Millisecond) // The subscriber waits again.
		b.StartTimer()
		begin := time.Now()
		h := Publish(b, p, f)
		if watches {
			hasVersion(b, sub, h.Version)
		} else if err := sub.Update(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	b.ReportMetric(median(took).Seconds()*1000, "ms/version")
	b.ReportMetric(carrierTime(b, store, source, s.bytes).Seconds()*1000, "ms/carrier")
	b.ReportMetric(0, "ns/op")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// hasVersion waits until a subscriber that runs answers from a version. Its pauses are short, since their length is part of
// what is measured.
func hasVersion(b *testing.B, s *share.Subscriber, version uint64) {
	for end := time.Now().Add(timeout); ; time.Sleep(50 * time.Microsecond) {
		if v := s.View(); v != nil && v.Head().Version >= version {
			return
		}
		if time.Now().After(end) {
			b.Fatal("the version does not arrive")
		}
	}
}

// carrierTime returns the median of the time from writing objects of the given lengths and a head until the
// first object has been read by a source that waits for the head.
func carrierTime(b *testing.B, store share.Store, source share.Source, lengths []int) time.Duration {
	const rounds = 50
	random := rand.NewChaCha8([32]byte{1})
	content := func(n int) []byte {
		c := make([]byte, n)
		random.Read(c)
		return c
	}
	head := content(450)
	putRecord(b, store, head)
	var took []time.Duration
	for range rounds {
		last := head
		head = content(450)
		objects, names := make([][]byte, len(lengths)), make([]string, len(lengths))
		for i, n := range lengths {
			objects[i] = content(n)
			names[i] = share.RefOf(objects[i]).Hash.String()
		}
		read := make(chan error, 1)
		write := func() {
			for i, o := range objects {
				put(b, store, names[i], o)
			}
			putRecord(b, store, head)
		}
		begin := time.Now()
		if w, ok := source.(share.Watcher); ok {
			go func(want []byte) { read <- readNext(b.Context(), w, source, last, want, names[0]) }(head)
			time.Sleep(2 * time.Millisecond)
			begin = time.Now()
			write()
		} else {
			write()
			_, err := source.Record(b.Context(), share.HeadName)
			if err == nil {
				err = discard(b.Context(), source, names[0])
			}
			read <- err
		}
		if err := <-read; err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	return median(took)
}

// readNext waits for a head after last, and then reads an object. The source may return one from before
// last first.
func readNext(ctx context.Context, w share.Watcher, source share.Source, last, want []byte, name string) error {
	for {
		got, err := w.WatchRecord(ctx, share.HeadName, last)
		if err != nil {
			return err
		}
		if bytes.Equal(got, want) {
			return discard(ctx, source, name)
		}
	}
}

func discard(ctx context.Context, source share.Source, name string) error {
	body, err := source.Object(ctx, name, 0)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
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
