package siblings_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/siblings"
)

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// A sibling that is dead or does not answer delays a miss by at most 50 ms, also the first one, and is tried again later.
func TestDown(t *testing.T) {
	const origin = 20 * time.Millisecond
	for name, down := range map[string]func(w *world){
		"hangs": func(w *world) { w.set("cache-n0", -1) },
		"dead":  func(w *world) { w.mu.Lock(); delete(w.hosts, "cache-n0"); w.mu.Unlock() },
		"slow":  func(w *world) { w.set("cache-n0", time.Second) },
		"fails": func(w *world) {
			w.mu.Lock()
			w.hosts["cache-n0"] = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) })
			w.mu.Unlock()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.set("origin", origin)
				n := nodes(t, w, names(2), nil)
				for i := range 300 {
					n[0].get(t, fmt.Sprintf("/%d", i))
				}
				settle()
				before := w.hosts["cache-n0"]
				down(w)
				var took []time.Duration
				for i := range 200 {
					start := time.Now()
					n[1].get(t, fmt.Sprintf("/%d", i))
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				if worst := took[len(took)-1]; worst > origin+50*time.Millisecond {
					t.Errorf("a miss took %v", worst)
				}
				if median := took[len(took)/2]; median != origin {
					t.Errorf("half of the misses took more than %v, want %v", median, origin)
				}
				if s := n[1].Status(); !strings.HasPrefix(s.Peers[0].Problem, "suspended: ") || s.Peers[0].Failed > 4 {
					t.Errorf("problem %q after %d failures", s.Peers[0].Problem, s.Peers[0].Failed)
				}
				w.mu.Lock()
				w.hosts["cache-n0"] = before
				w.mu.Unlock()
				w.set("cache-n0", 0)
				time.Sleep(30 * time.Second)
				n[1].get(t, "/250")
				if s := n[1].Status(); s.Hits != 1 || s.Peers[0].Problem != "" {
					t.Errorf("it is not tried again: %+v", s.Peers[0])
				}
			})
		})
	}
}

// A node that ended is not tried when its head has expired.
func TestEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(2), nil)
		n[0].get(t, "/x")
		settle()
		w.set("sidecar-n0", -1)
		silent := time.Duration(0) // the longest time without contact while its head is valid
		for range 25 {
			time.Sleep(time.Second)
			if p := n[1].Status().Peers[0]; p.Problem == "" && p.Lost != nil {
				silent = time.Since(*p.Lost)
			}
		}
		if silent < 7*time.Second || silent > 10*time.Second {
			t.Errorf("while its head is valid, the status shows no contact for up to %v", silent)
		}
		r := httptest.NewRequest(http.MethodGet, "http://origin/x", nil)
		if got := n[1].Holds(r); len(got) != 0 {
			t.Errorf("holders %+v, want none", got)
		}
		if p := n[1].Status().Peers[0].Problem; p != "its publication is out of date" {
			t.Errorf("problem %q", p)
		}
		w.set("sidecar-n0", 0)
		time.Sleep(time.Minute)
		if got := n[1].Holds(r); len(got) != 1 {
			t.Errorf("holders %+v, want n0", got)
		}
		if p := n[1].Status().Peers[0]; p.Lost != nil {
			t.Errorf("no contact since %v, although it is back", p.Lost)
		}
	})
}

// Only a request with the token reads a publication.
func TestForbidden(t *testing.T) {
	w := newWorld()
	n := nodes(t, w, names(1), nil)
	for _, path := range []string{"/head", "/objects/x", "/peer", "/absent"} {
		for _, value := range []string{"", "Bearer ", "Bearer " + token + "x"} {
			r := httptest.NewRequest(http.MethodGet, siblings.Path+path, nil)
			if value != "" {
				r.Header.Set("Authorization", value)
			}
			rec := httptest.NewRecorder()
			n[0].Publication().ServeHTTP(rec, r)
			if rec.Code != http.StatusForbidden {
				t.Errorf("%s with %q: status %d, want 403", path, value, rec.Code)
			}
		}
	}
}

// bounded keeps the deadline for the body of a request.
type bounded struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (b *bounded) SetReadDeadline(t time.Time) error { b.deadline = t; return nil }

// The body of a request, with a token or without, has a bounded time; a request without a body may take as long as its
// answer.
func TestBodiesAreBounded(t *testing.T) {
	w := newWorld()
	n := nodes(t, w, names(1), nil)
	for _, value := range []string{"", "Bearer " + token} {
		for body, want := range map[string]bool{"": false, "http://example.org/": true} {
			r := httptest.NewRequest(http.MethodPost, siblings.Path+"/absent", strings.NewReader(body))
			r.Header.Set("Authorization", value)
			rec := &bounded{ResponseRecorder: httptest.NewRecorder()}
			n[0].Publication().ServeHTTP(rec, r)
			if rec.deadline.IsZero() == want {
				t.Errorf("a body of %d bytes with %q: the deadline is %v", len(body), value, rec.deadline)
			}
		}
	}
}

// A cache that is between siblings does not store a publication: it would give it to clients without the token.
func TestPrivate(t *testing.T) {
	w := newWorld()
	n := nodes(t, w, names(1), nil)
	read := func(path string) (body string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, siblings.Path+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		n[0].Publication().ServeHTTP(rec, r)
		if control := rec.Header().Get("Cache-Control"); rec.Code != http.StatusOK || !strings.HasPrefix(control, "private") {
			t.Errorf("%s: status %d, Cache-Control %q, want private", path, rec.Code, control)
		}
		return rec.Body.String()
	}
	lines := strings.Split(read("/head"), "\n")
	var size int
	var index string
	if _, err := fmt.Sscanf(lines[5], "index %d %s", &size, &index); err != nil {
		t.Fatal(err)
	}
	read("/objects/" + index)
}

// The nearest zone is tried first, then the sibling that answers sooner.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(4), func(_ string, o *siblings.Options) {
			for i := range o.Peers {
				if o.Peers[i].Name == "n0" {
					o.Peers[i].Zone = 1
				}
			}
		})
		w.set("cache-n1", 20*time.Millisecond)
		w.set("cache-n2", 2*time.Millisecond)
		for i := range 3 {
			for j := range 20 {
				n[i].get(t, fmt.Sprintf("/only-%d/%d", i, j))
			}
		}
		r := httptest.NewRequest(http.MethodGet, "http://origin/all", nil)
		for _, x := range n[:3] {
			x.Added(x.Key(r), time.Now().Add(time.Hour))
		}
		settle()
		for i := range 3 {
			for j := range 20 {
				n[3].get(t, fmt.Sprintf("/only-%d/%d", i, j))
			}
		}
		var got []string
		for _, p := range n[3].Holds(r) {
			got = append(got, p.Name)
		}
		if want := []string{"n2", "n1", "n0"}; !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	})
}

// A cache that was emptied is noticed by a probe.
func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(1), func(_ string, o *siblings.Options) { o.ProbePeriod = 5 * time.Second })
		for i := range 100 {
			n[0].get(t, fmt.Sprintf("/%d", i))
		}
		time.Sleep(6 * time.Second)
		if got := n[0].Held().Len(); got != 100 {
			t.Fatalf("%d keys after a probe, want 100", got)
		}
		for i := range 100 {
			n[0].cache.evict(fmt.Sprintf("/%d", i))
		}
		time.Sleep(6 * time.Second)
		if got := n[0].Held().Len(); got != 0 {
			t.Errorf("%d keys after the cache was emptied, want 0", got)
		}
	})
}

// While the origin is down each miss is answered with 502. That is logged when it begins, once a minute with the number of misses, and
// when it is over.
func TestOriginDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		n := nodes(t, newWorld(), names(1), func(_ string, o *siblings.Options) {
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
		})[0]
		nobody, err := freeport.Addr()
		if err != nil {
			t.Fatal(err)
		}
		h, err := n.Handler(address("http://" + nobody))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for _, want := range []int{1, 2} {
			for range 100 {
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/a", nil))
				if rec.Code != http.StatusBadGateway {
					t.Errorf("status %d, want 502", rec.Code)
				}
			}
			if got := strings.Count(log.String(), "can't be reached"); got != want {
				t.Errorf("%d warnings, want %d: %s", got, want, log.String())
			}
			if o := n.Status().Outage; o == nil || !o.Since.Equal(begin) || !strings.Contains(o.Error, "refused") {
				t.Errorf("the status has %+v, want an outage since %v", o, begin)
			}
			time.Sleep(time.Minute)
		}
		n.get(t, "/b") // from an origin that answers
		if o := n.Status().Outage; o != nil {
			t.Errorf("the origin answers, but the status has %+v", o)
		}
		if s := log.String(); !strings.Contains(s, "omitted=99") || !strings.Contains(s, `msg="the origin answers again" lasted=2m0s omitted=99`) {
			t.Errorf("the second warning has no number, or the end is not logged: %s", s)
		}
	})
}
