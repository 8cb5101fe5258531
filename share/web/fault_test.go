package web_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// faulty is a carrier between a handler and a client. Each request has a fault with a probability.
type faulty struct {
	handler http.Handler
	rand    *rand.Rand
	rate    float64
	heads   []*httptest.ResponseRecorder // all that were sent
	bodies  map[string][]byte            // of objects
	count   map[string]int               // faults by name
}

// RoundTrip is the whole network.
func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	object := strings.HasPrefix(r.URL.Path, "/objects/")
	if !object {
		f.heads = append(f.heads, w)
	} else if w.Code == http.StatusOK {
		f.bodies[r.URL.Path] = w.Body.Bytes()
	}
	if f.rand.Float64() >= f.rate {
		return w.Result(), nil
	}
	names := []string{"drop", "reset", "500", "404", "page", "truncate", "shorten", "lengthen", "flip", "slow", "redirect", "gzip", "not modified"}
	if object {
		names = append(names, "another object", "ignore range", "wrong range")
	} else {
		names = append(names, "old head", "old head", "old head")
	}
	name := names[f.rand.IntN(len(names))]
	f.count[name]++
	return f.fault(name, r, w)
}

func (f *faulty) fault(name string, r *http.Request, w *httptest.ResponseRecorder) (*http.Response, error) {
	b := w.Body.Bytes()
	reply := w.Result()
	with := func(status int, body io.Reader) (*http.Response, error) { return replyWith(status, body), nil }
	part := b[:f.rand.IntN(len(b)+1)]
	switch name {
	case "drop":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "reset":
		return nil, errors.New("connection reset")
	case "500":
		return with(500, strings.NewReader(page))
	case "404":
		return with(404, strings.NewReader(page))
	case "page":
		return with(200, strings.NewReader(page))
	case "truncate":
		reply.Body = io.NopCloser(io.MultiReader(strings.NewReader(string(part)), errorReader{}))
	case "shorten":
		return with(w.Code, strings.NewReader(string(part)))
	case "lengthen":
		return with(w.Code, strings.NewReader(string(b)+page))
	case "flip":
		damaged := []byte(string(b))
		if len(damaged) > 0 {
			damaged[f.rand.IntN(len(damaged))] ^= 1 << f.rand.IntN(8)
		}
		return with(w.Code, strings.NewReader(string(damaged)))
	case "slow":
		reply.Body = io.NopCloser(slowBody{r.Context(), time.Minute})
	case "redirect":
		reply = replyWith(302, http.NoBody, "Location", "/elsewhere")
	case "gzip":
		return replyWith(w.Code, strings.NewReader(string(zipped(b))), "Content-Encoding", "gzip"), nil
	case "not modified":
		return with(304, http.NoBody)
	case "another object":
		for _, other := range f.bodies {
			return with(200, strings.NewReader(string(other)))
		}
	case "ignore range":
		if whole, ok := f.bodies[r.URL.Path]; ok {
			return with(200, strings.NewReader(string(whole)))
		}
	case "wrong range":
		return replyWith(206, strings.NewReader(string(part)), "Content-Range", "bytes "+strconv.Itoa(f.rand.IntN(1000))+"-9/*"), nil
	case "old head":
		return f.heads[f.rand.IntN(len(f.heads))].Result(), nil
	}
	return reply, nil
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// history is a publication whose carrier has faults.
type history struct {
	t       *testing.T
	rand    *rand.Rand
	carrier *faulty
	now     time.Time
	ids     map[uint64]wire.ID // of the versions
	sub     *share.Subscriber
	last    uint64 // version that the subscriber had
}

// check fails if the subscriber answers as exact with something that was not published, is not what
// its head states, or is older than what it had.
func (h *history) check(err error) {
	v := h.sub.View()
	if v == nil {
		if err == nil {
			h.t.Fatal("no error and no version")
		}
		return
	}
	head := v.Head()
	if !v.Exact() {
		h.t.Fatal("the version is not exact, though its head is valid")
	}
	if id := hashtree.Identify(v.Filter().State()); id != head.ID || id != h.ids[head.Version] || head.Version < h.last {
		h.t.Fatalf("version %d after %d has another content", head.Version, h.last)
	}
	h.last = head.Version
}

// A faulty or hostile carrier makes a subscriber late, never wrong. It is up to date again with the first
// update after the last fault.
func TestFaults(t *testing.T) {
	histories, steps := 100, 40
	if testing.Short() {
		histories = 20
	}
	total := make(map[string]int)
	updates, failed := 0, 0
	for seed := range uint64(histories) {
		synctest.Test(t, func(t *testing.T) { // Requests end after 30 seconds without progress.
			n, bad := runHistory(t, seed, steps, total)
			updates, failed = updates+n, failed+bad
		})
	}
	t.Logf("%d of %d updates failed; faults: %v", failed, updates, total)
	if failed == 0 || failed == updates {
		t.Errorf("%d of %d updates failed", failed, updates)
	}
}

// runHistory publishes versions and updates a subscriber. It returns the number of updates and of those
// that failed.
func runHistory(t *testing.T, seed uint64, steps int, total map[string]int) (updates, failed int) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(seed, 0))
	s := new(share.Memory)
	h := &history{t: t, rand: r, now: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), ids: make(map[uint64]wire.ID)}
	h.carrier = &faulty{handler: web.NewHandler(s, web.HandlerOptions{}), rand: r, rate: 0.3, bodies: make(map[string][]byte), count: total}
	clock := func() time.Time { return h.now }
	signer, verifier := sharetest.Keys(t, "example.org/set")
	p, err := share.NewPublisher(ctx, share.PublisherOptions{Store: s, Key: share.Key{Signer: signer, Verifier: verifier}, Now: clock, Valid: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	c, err := web.NewClient("http://example.org/", web.ClientOptions{HTTP: &http.Client{Transport: h.carrier}})
	if err != nil {
		t.Fatal(err)
	}
	o := share.SubscriberOptions{Source: c, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Now: clock}
	if seed%2 == 0 {
		o.Cache = new(share.Memory)
	}
	if h.sub, err = share.NewSubscriber(ctx, o); err != nil {
		t.Fatal(err)
	}
	// Half of the snapshots have several chunks.
	f := sharetest.Set(t, 1<<(16+5*(seed%2)), 0, 5000)
	for i := range steps {
		h.now = h.now.Add(time.Second)
		if i == 0 || r.IntN(3) > 0 {
			f.Add(f.Hasher().HashUint64(1e9 + uint64(i)))
			head, err := p.Publish(ctx, f.State())
			if err != nil {
				t.Fatal(err)
			}
			h.ids[head.Version] = head.ID
		}
		err := h.sub.Update(ctx)
		h.check(err)
		if updates++; err != nil {
			failed++
		}
		if o.Cache != nil && r.IntN(10) == 0 {
			h.sub.Close()
			if h.sub, err = share.NewSubscriber(ctx, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.carrier.rate = 0
	err = h.sub.Update(ctx)
	h.check(err)
	if err != nil || h.last != p.Head().Version {
		t.Fatalf("history %d: version %d after the last fault, want %d: %v", seed, h.last, p.Head().Version, err)
	}
	h.sub.Close()
	return updates, failed
}
