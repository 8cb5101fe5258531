package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
)

// fast is a demonstration in which everything happens soon.
var fast = Options{Keys: 2000, Changes: 1000, Every: 50 * time.Millisecond, Cycle: time.Second, Seed: 1}

func newDemo(t *testing.T, o Options) *Demo {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	d, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// runUntil runs a demonstration until a report is as wanted, and returns the last one.
func runUntil(t *testing.T, d *Demo, wanted func(Report) bool) Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	met := make(chan bool, 1)
	go func() {
		defer cancel()
		for pause.For(ctx, 10*time.Millisecond) {
			if wanted(d.Report()) {
				met <- true
				return
			}
		}
	}()
	last, err := d.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("files are left in %s: %v, %v", os.TempDir(), left, err)
	}
	select {
	case <-met:
	default:
		t.Fatalf("it did not happen: %+v", last)
	}
	return last
}

// happened returns whether one of the events contains all texts.
func happened(r Report, texts ...string) bool {
	return slices.ContainsFunc(r.Events, func(e Event) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(e.Text, text) })
	})
}

// Everything happens: changes, losses, an end and a return. No answer is wrong, and the counters of the
// links, of the subscribers and of the report agree.
func TestDemo(t *testing.T) {
	d := newDemo(t, fast)
	recorders := make([]*recorder, len(d.subscribers))
	for i, s := range d.subscribers {
		recorders[i] = &recorder{next: s.link.next}
		s.link.next = recorders[i]
		s.link.transport.DialContext = recorders[i].counted(s.link.dial)
	}
	r := runUntil(t, d, func(r Report) bool {
		for _, s := range r.Subscribers {
			if s.Present == 0 || s.Absent == 0 || s.Version < 3 {
				return false
			}
		}
		return happened(r, "ended") && happened(r, ": from") && r.Subscribers[3].Lost > 2 && r.Subscribers[3].Failures > 0
	})
	if !r.Final || r.Wrong != 0 {
		t.Errorf("final %v, %d wrong", r.Final, r.Wrong)
	}
	if r.Set.Added == 0 || r.Set.Removed == 0 || r.Set.Keys != uint64(fast.Keys)+r.Set.Added-r.Set.Removed {
		t.Errorf("the set: %+v", r.Set)
	}
	received, costs := uint64(0), Costs{}
	for i, s := range d.subscribers {
		row := s.report(time.Now(), d.begin)
		received += row.Received
		costs.add(row.Costs)
		checkBytes(t, s, row, recorders[i])
		if row.Costs.Packed < row.Objects/100 || row.Costs.Unpacked < row.Costs.Packed || row.Costs.Lists < row.Costs.ListChanges {
			t.Errorf("%s: costs %+v of %d bytes", s.name, row.Costs, row.Objects)
		}
	}
	// The subscribers received at most what came between the last report and their end.
	if r.Received > received || r.Costs.Packed > costs.Packed {
		t.Errorf("the report has %d bytes and %d for copies, the subscribers have %d and %d", r.Received, r.Costs.Packed, received, costs.Packed)
	}
	if s := r.Subscribers[2]; s.Fold != folds[0] || math.Abs(s.Rate-s.Expected) > 0.02 || s.Rate < fpRate {
		t.Errorf("%s: fold %d, rate %.4f, want fold %d and about %.4f", s.Name, s.Fold, s.Rate, folds[0], s.Expected)
	}
}

// checkBytes compares what a link counted with what its subscriber counted and what was recorded.
func checkBytes(t *testing.T, s *subscriber, row Subscriber, r *recorder) {
	t.Helper()
	got := r.sum()
	if row.Heads != got.heads || row.Objects != got.bodies {
		t.Errorf("%s: %d bytes of heads and %d of objects, recorded %d and %d", s.name, row.Heads, row.Objects, got.heads, got.bodies)
	}
	if l := s.link.limit; l != nil {
		if most := segmentBytes + uint64(float64(l.perSecond)*time.Since(s.started).Seconds()); row.Received > most {
			t.Errorf("%s: received %d bytes, the limit permits %d", s.name, row.Received, most)
		}
	}
	if s.link.loss > 0 {
		return // parts of replies were received and counted nowhere else
	}
	if got.objects != s.past.Bytes {
		t.Errorf("%s: received %d bytes of objects, the subscriber counted %d", s.name, got.objects, s.past.Bytes)
	}
	// Of the last reply of each connection not all may have been read. The subscriber that ends and returns has many.
	connections := r.connections.Load()
	if all := got.headers + got.heads + got.bodies; row.Received < all || row.Received > all+connections*segmentBytes {
		t.Errorf("%s: received %d bytes over %d connections, of which %d were recorded", s.name, row.Received, connections, all)
	}
}

// recorder remembers the replies, and what was read of them, and counts the connections.
type recorder struct {
	next        http.RoundTripper
	mu          sync.Mutex
	replies     []*reply
	connections atomic.Uint64
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// counted returns a function that counts the connections which dial makes.
func (r *recorder) counted(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		r.connections.Add(1)
		return dial(ctx, network, addr)
	}
}

// reply is the body of a reply as far as it was read.
type reply struct {
	io.ReadCloser
	path     string
	header   int // bytes
	body     []byte
	complete bool
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	got, err := r.next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	header, err := httputil.DumpResponse(got, false)
	if err != nil {
		return nil, err
	}
	b := &reply{ReadCloser: got.Body, path: q.URL.Path, header: len(header)}
	got.Body = b
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, b)
	return got, nil
}

func (b *reply) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.body = append(b.body, p[:n]...)
	b.complete = b.complete || err == io.EOF
	return n, err
}

// recorded are the bytes of replies. Those of objects and indexes without heads are of complete ones.
type recorded struct{ headers, heads, bodies, objects, indexes uint64 }

func (r *recorder) sum() (s recorded) {
	for _, b := range r.replies {
		n := uint64(len(b.body))
		s.headers += uint64(b.header)
		switch {
		case !strings.HasPrefix(b.path, "/objects/"):
			s.heads += n
			continue
		case b.complete && bytes.HasPrefix(b.body, []byte("umbidx")):
			s.indexes += n
		case b.complete:
			s.objects += n
		}
		s.bodies += n
	}
	return s
}

// A directory is followed; files that appear meanwhile are in the next versions.
func TestDemoOfDirectory(t *testing.T) {
	dir := t.TempDir()
	add := func(names ...string) {
		for _, name := range names {
			if err := os.WriteFile(dir+"/"+name, []byte(name), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	add("a", "b")
	o := fast
	o.Dir = dir
	d := newDemo(t, o)
	once := sync.OnceFunc(func() { add("c", "d") })
	r := runUntil(t, d, func(r Report) bool {
		once()
		return r.Set.Keys == 4 && r.Set.Version > 1 && r.Subscribers[0].Version == r.Set.Version && r.Subscribers[0].Present > 0
	})
	if r.Wrong != 0 || r.Set.Skipped != 0 {
		t.Errorf("%+v", r)
	}
}

// A demonstration of the directory for temporary files does not follow its own cache.
func TestDemoOfTemporaryFiles(t *testing.T) {
	o := fast
	o.Dir = t.TempDir()
	t.Setenv("TMPDIR", o.Dir)
	d, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := runUntil(t, d, func(r Report) bool { return happened(r, "started again") && r.Subscribers[4].Version > 0 })
	if r.Set.Version != 1 || r.Set.Keys != 0 {
		t.Errorf("%+v", r.Set)
	}
}

// A subscriber with a budget for the first version begins with a coarse fold, and continues with the
// whole filter.
func TestDemoStart(t *testing.T) {
	o := fast
	o.Keys = 20_000
	d := newDemo(t, o)
	d.subscribers[1].link.limit.perSecond = 1 << 20
	coarsest := folds[len(folds)-1]
	begun := false // a report has the last events only
	r := runUntil(t, d, func(r Report) bool {
		begun = begun || happened(r, "2 kB/s: begins with", fmt.Sprintf("fold %d;", coarsest))
		return begun && happened(r, "2 kB/s: changes its class", "fold 1;")
	})
	if s := r.Subscribers[1]; r.Wrong != 0 || s.Fold != 1 {
		t.Errorf("%+v", s)
	}
}

// A set that no longer fits into the filter gets a larger one.
func TestDemoGrows(t *testing.T) {
	o := fast
	o.Keys, o.Changes = 1000, 10_000
	d := newDemo(t, o)
	before := d.Report().Filter.Cells
	r := runUntil(t, d, func(r Report) bool { return r.Filter.Cells > before && r.Subscribers[0].Version == r.Set.Version })
	if r.Wrong != 0 {
		t.Errorf("%d wrong", r.Wrong)
	}
}

func TestDemoErrors(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	if _, err := New(t.Context(), fast); err == nil {
		t.Error("no error without a directory for temporary files")
	}
	o := fast
	o.Dir = t.TempDir() + "/none"
	if _, err := New(t.Context(), o); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}
