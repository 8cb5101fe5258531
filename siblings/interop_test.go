package siblings_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

// deployed is a real cache with a sidecar behind it.
type deployed struct {
	*siblings.Mesh
	name, url string
	sidecar   *httptest.Server
}

// deploy starts one cache of each program, in a chain: each has the one before it as a peer, and if mutual also the one
// after it.
func deploy(t *testing.T, origin http.Handler, mutual bool, list ...program) []*deployed {
	t.Helper()
	if testing.Short() {
		t.Skip("starts other programs")
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	o := httptest.NewServer(origin)
	t.Cleanup(o.Close)
	keys := make([]share.Key, len(list))
	ports := make([]string, len(list))
	servers := make([]*httptest.Server, len(list))
	for i := range list {
		var err error
		if keys[i], _, err = share.NewKey(fmt.Sprint("example.org/", i)); err != nil {
			t.Fatal(err)
		}
		ports[i], servers[i] = freePort(t), httptest.NewUnstartedServer(nil)
	}
	t.Cleanup(func() {
		stop()
		running.Wait()
		for _, s := range servers {
			s.Close()
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	var all []*deployed
	for i, p := range list {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DisableCompression = true
		t.Cleanup(transport.CloseIdleConnections)
		options := siblings.Options{
			Key: keys[i], Token: token, Cache: address("http://127.0.0.1:" + ports[i]), Host: "www.example.org", Freshness: p.freshness,
			Period: 100 * time.Millisecond, Patience: time.Minute, HTTP: transport,
		}
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(list) && (j < i || mutual) {
				options.Peers = append(options.Peers, siblings.PeerOptions{
					Name: fmt.Sprint(j), URL: address("http://" + servers[j].Listener.Addr().String()), Verifier: keys[j].Verifier,
				})
			}
		}
		m, err := siblings.New(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		if servers[i].Config.Handler, err = m.Sidecar(address(o.URL)); err != nil {
			t.Fatal(err)
		}
		servers[i].Start()
		running.Go(func() { m.Run(ctx) })
		p.start(t, ports[i], servers[i].Listener.Addr().String())
		all = append(all, &deployed{m, p.name, "http://127.0.0.1:" + ports[i], servers[i]})
	}
	return all
}

// fetch requests a path from the cache.
func (d *deployed) fetch(t *testing.T, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, d.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "www.example.org"
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// awaitHolds waits until n of the paths 0 to n-1 below prefix are published to d.
func (d *deployed) awaitHolds(t *testing.T, prefix string, n int) {
	t.Helper()
	await.True(t, fmt.Sprintf("%d are published", n), func() bool {
		found := 0
		for i := range n {
			r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://origin%s%d", prefix, i), nil)
			found += len(d.Holds(r))
		}
		return found >= n
	})
}

// Two caches of each program, unchanged, use what the other one holds.
func TestInterop(t *testing.T) {
	const objects, forced = 500, 100
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			d := deploy(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Cache-Control", "max-age=300")
				fmt.Fprint(rw, "origin "+r.URL.Path)
			}), true, p, p)
			get := func(i int, prefix string, n int) {
				t.Helper()
				for j := range n {
					path := fmt.Sprint(prefix, j)
					if status, body := d[i].fetch(t, path); status != http.StatusOK || body != "origin "+path {
						t.Fatalf("%s: status %d, %q", path, status, body)
					}
				}
			}
			get(0, "/", objects)
			d[1].awaitHolds(t, "/", objects)
			get(1, "/", objects)
			if s := d[1].Status(); s.Hits != objects || s.Origin != 0 {
				t.Fatalf("%d hits, %d from the origin, want %d and 0: %+v", s.Hits, s.Origin, objects, s)
			}
			falsePositives(t, d[0], d[1])
			// False positives cost a 504 that nobody sees and no cache stores.
			for i := range forced {
				r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://origin/forced/%d", i), nil)
				d[0].Added(d[0].Key(r), time.Now().Add(time.Hour))
			}
			d[1].awaitHolds(t, "/forced/", forced)
			get(1, "/forced/", forced)
			if s := d[1].Status(); s.Peers[0].Absent != forced || s.Origin != forced {
				t.Errorf("%d 504s and %d from the origin, want %d of both", s.Peers[0].Absent, s.Origin, forced)
			}
			d[0].awaitHolds(t, "/forced/", forced)
			get(0, "/forced/", forced)
			if s := d[0].Status(); s.Hits != forced || s.Origin != objects {
				t.Errorf("%d hits and %d from the origin, want %d and %d", s.Hits, s.Origin, forced, objects)
			}
			if held := d[0].Status().Held; held < objects {
				t.Errorf("%d are published, want at least %d", held, objects)
			}
		})
	}
}

// falsePositives compares the false positives of what one node publishes, as another one has it, with the share of cells that
// are set. The seed differs in each run, and one run in 370 is beyond three standard deviations: then other keys decide, and
// others again.
func falsePositives(t *testing.T, of, at *deployed) {
	t.Helper()
	const queries = 20_000
	s := of.Status()
	rate := 1 - math.Exp(-float64(s.Held)/float64(s.Cells)) // one cell per key
	want, limit := queries*rate, 3*math.Sqrt(queries*rate*(1-rate))
	r := httptest.NewRequest(http.MethodGet, "http://origin/", nil)
	got := 0
	for _, prefix := range []string{"/absent/", "/missing/", "/lacking/"} {
		got = 0
		for i := range queries {
			r.URL.Path = prefix + strconv.Itoa(i)
			got += len(at.Holds(r))
		}
		if math.Abs(float64(got)-want) <= limit {
			return
		}
	}
	t.Errorf("%d false positives of %d, want %.0f ± %.0f", got, queries, want, limit)
}

// A response goes over five hops of caches of all programs, and none serves it after its lifetime.
func TestInteropAge(t *testing.T) {
	const lifetime = 10 * time.Second
	d := deploy(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "max-age=10")
		fmt.Fprint(rw, time.Now().UnixNano())
	}), false, append(programs, programs[0])...)
	start := time.Now()
	_, first := d[0].fetch(t, "/0")
	for i, x := range d[1:] {
		x.awaitHolds(t, "/", 1)
		if _, body := x.fetch(t, "/0"); body != first {
			t.Fatalf("%s does not have the response of %s: %+v", x.name, d[i].name, x.Status())
		}
	}
	t.Logf("five hops took %v", time.Since(start))
	for time.Since(start) < lifetime+3*time.Second {
		for _, x := range d {
			now := time.Now()
			_, body := x.fetch(t, "/0")
			var made int64
			fmt.Sscan(strings.TrimSpace(body), &made)
			if age := now.Sub(time.Unix(0, made)); age > lifetime {
				t.Fatalf("%s serves a response that is %v old", x.name, age)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}
