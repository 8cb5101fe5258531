package substituter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// DefaultMaxAge is the default of BloomOptions.MaxAge.
const DefaultMaxAge = 5 * time.Minute

// DefaultMaxBytes is the default of BloomOptions.MaxBytes: 2 GiB.
const DefaultMaxBytes = 2 << 30

// BloomOptions configure a Bloom. URL is required.
type BloomOptions struct {
	URL    *url.URL     // of the cache
	Client *http.Client // nil: NewClient of a transport of its own
	// MaxAge is the time for which the file counts as current after the upstream has confirmed it.
	MaxAge time.Duration
	// MaxBytes is the length of the largest file.
	MaxBytes uint64
	Timeout  time.Duration // without progress
}

// Bloom is the summary in the file NixBloom of a cache. The file has no signature and no time, so it is trusted as
// much as the cache itself, and counts as current for a bounded time after the upstream has confirmed it.
type Bloom struct {
	o     BloomOptions
	state atomic.Pointer[bloomState]

	mu       sync.Mutex // guards what follows
	err      error      // of the last refresh
	received uint64
}

// bloomState is a file that was read.
type bloomState struct {
	filter    *nixbloom.Filter
	path, tag string
	checked   time.Time // when the request began that confirmed it
}

// errNoBloom means that a cache names no file NixBloom.
var errNoBloom = errors.New("the cache has no Bloom filter")

// NewBloom returns the summary of a cache, which has no file yet.
func NewBloom(o BloomOptions) *Bloom {
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultStall
	}
	if o.Client == nil {
		o.Client = NewClient(NewTransport(o.Timeout))
	}
	return &Bloom{o: o}
}

// Has returns Absent only while the file is current.
func (b *Bloom) Has(q Path) Answer {
	st := b.state.Load()
	switch {
	case st == nil || !b.isCurrent(st):
		return Unknown
	case st.filter.Has(q.Hash.Digest()):
		return Maybe
	}
	return Absent
}

// isCurrent compares the time since the file was confirmed with MaxAge, by the system's clock and by the monotonic
// one: the former may be set, and the latter stops while the machine is suspended.
func (b *Bloom) isCurrent(st *bloomState) bool {
	now := time.Now()
	wall := now.Round(0).Sub(st.checked.Round(0))
	return wall >= 0 && wall < b.o.MaxAge && now.Sub(st.checked) < b.o.MaxAge
}

// Run refreshes the file three times per MaxAge until ctx ends.
func (b *Bloom) Run(ctx context.Context) {
	for {
		err := b.refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		b.note(err)
		period := b.o.MaxAge / 3
		pause.For(ctx, period*3/4+rand.N(period/4+1))
	}
}

func (b *Bloom) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

// refresh reads the description of the cache, and its file unless the upstream confirms the one that was read last.
func (b *Bloom) refresh(ctx context.Context) error {
	began := time.Now()
	info, _, err := b.get(ctx, nixcache.InfoName, "", nixcache.MaxInfo, nil)
	if err != nil {
		return err
	}
	path, err := nixcache.BloomPath(info)
	if err != nil {
		return err
	}
	if path == "" {
		b.state.Store(nil)
		return errNoBloom
	}
	if dir := nixcache.Field(info, "StoreDir"); dir != "" && dir != nixcache.StoreDir {
		return fmt.Errorf("the cache is for the store %.80q, want %s", dir, nixcache.StoreDir)
	}
	last, tag := b.state.Load(), ""
	if last != nil && last.path == path {
		tag = last.tag
	}
	file, header, err := b.get(ctx, path, tag, b.o.MaxBytes, checkSize)
	if err != nil {
		return err
	}
	began = began.Add(-age(header))
	if file == nil {
		b.state.Store(&bloomState{last.filter, path, tag, began})
		return nil
	}
	f, err := nixbloom.ParseFile(file)
	if err != nil {
		return err
	}
	b.state.Store(&bloomState{f, path, header.Get("Etag"), began})
	return nil
}

// age returns for how long a cache on the way has had a reply (RFC 9111, section 5.1).
func age(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Age"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// checkSize returns an error if the header of a file states another length than the reply, which has -1 if it states
// none, or one above the limit.
func checkSize(head []byte, length int64, limit uint64) error {
	s, err := nixbloom.CheckHeader(head)
	if err != nil {
		return err
	}
	want := nixbloom.FileBytes(s.M)
	if length >= 0 && uint64(length) != want || want > limit {
		return sentinel.Errorf(umbel.ErrCorrupt, "a file of %d bytes for %d cells, want %d and at most %d", length, s.M, want, limit)
	}
	return nil
}

// get requests a file of the cache. Its memory grows with the bytes that have arrived, up to limit. It returns nil if
// the upstream confirms the tag. check, unless nil, is called with the first bytes.
func (b *Bloom) get(ctx context.Context, path, tag string, limit uint64, check func([]byte, int64, uint64) error) ([]byte, http.Header, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(b.o.Timeout, cancel)
	defer stalled.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.o.URL.JoinPath(path).String(), nil)
	if err != nil {
		return nil, nil, err
	}
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	reply, err := b.o.Client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer reply.Body.Close()
	switch {
	case reply.StatusCode == http.StatusNotModified && tag != "":
		return nil, reply.Header, nil
	case reply.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("/%s: status %s", path, reply.Status)
	}
	body := &progress{Reader: io.LimitReader(reply.Body, int64(limit)+1), timer: stalled, timeout: b.o.Timeout}
	var head []byte
	if check != nil {
		head = make([]byte, nixbloom.HeaderBytes)
		n, err := io.ReadFull(body, head)
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			err = check(head[:n], reply.ContentLength, limit)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("/%s: %w", path, err)
		}
	}
	file, err := io.ReadAll(io.MultiReader(bytes.NewReader(head), body))
	b.count(len(file))
	if err == nil && uint64(len(file)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("/%s: %w", path, err)
	}
	return file, reply.Header, nil
}

func (b *Bloom) count(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.received += uint64(n)
}

// Status describes the summary.
func (b *Bloom) Status() SummaryStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := SummaryStatus{Kind: nixbloom.Name, Source: b.o.URL.Redacted(), Bytes: b.received}
	if b.err != nil {
		st.Error = report.Text(b.err)
	}
	if last := b.state.Load(); last != nil {
		st.Current, st.Until = b.isCurrent(last), last.checked.Add(b.o.MaxAge)
	}
	return st
}

// progress resets a timer with each read.
type progress struct {
	io.Reader
	timer   *time.Timer
	timeout time.Duration
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		p.timer.Reset(p.timeout)
	}
	return n, err
}
