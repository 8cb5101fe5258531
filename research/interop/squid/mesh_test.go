package squid

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

const (
	// traceRate is the number of requests per second and cache.
	traceRate = 10
	// traceWarm is the time before the measurement: Squids read the second digest 310 s after the first, which was almost empty.
	traceWarm = 330 * time.Second
	// traceTime is the time of the measurement.
	traceTime = 620 * time.Second
)

// patience are flags with which umbel waits for siblings on a machine whose processors are busy, as Squid does.
var patience = []string{"--patience", "2s"}

// node is a cache of a mesh. status is empty of a Squid.
type node struct {
	*cache
	status string
}

// mesh are three caches that cooperate, or do not.
type mesh struct {
	name   string
	nodes  []node
	served *meter // the digests that are served to Squids by others than Squids; nil for none
	origin *tracedOrigin
}

// TestMeshes measures how much three caches gain from cooperation: with umbel, with Squid's digests, through the relay,
// mixed, with ICP and without. All meshes run at the same time, each with its own origin and the same trace.
func TestMeshes(t *testing.T) {
	selected, err := regexp.Compile(os.Getenv("UMBEL_MESHES"))
	if os.Getenv("UMBEL_MESHES") == "" || err != nil {
		t.Skip("takes 17 minutes: set UMBEL_MESHES to . or to a regular expression for the names of meshes")
	}
	umbel, err := proc.Build(t.Context(), t.TempDir(), "umbel-cache")
	if err != nil {
		t.Fatal(err)
	}
	var meshes []*mesh
	for _, x := range []struct {
		name  string
		begin func() *mesh
	}{
		{"3 umbel", func() *mesh { return umbels(t, umbel, true) }},
		{"3 umbel, --period 10s", func() *mesh { return umbels(t, umbel, true, "--period", "10s") }},
		{"3 Squid, relay", func() *mesh { return squids(t, umbel, "relay") }},
		{"2 Squid and 1 umbel", func() *mesh { return mixed(t, umbel) }},
		{"3 Squid, digests", func() *mesh { return squids(t, umbel, "digests") }},
		{"3 Squid, ICP", func() *mesh { return squids(t, umbel, "ICP") }},
		{"3 umbel, none", func() *mesh { return umbels(t, umbel, false) }},
		{"3 Squid, none", func() *mesh { return squids(t, umbel, "none") }},
	} {
		if selected.MatchString(x.name) {
			m := x.begin()
			m.name = x.name
			meshes = append(meshes, m)
		}
	}
	n := int((traceWarm + traceTime).Seconds() * traceRate)
	results := make([]counts, len(meshes))
	var wg sync.WaitGroup
	for i, m := range meshes {
		m.origin = newTracedOrigin(t)
		wg.Go(func() { results[i] = m.measure(t, n) })
	}
	wg.Wait()
	t.Log("| mesh | own hits | sibling hits | origin | false hits | KiB of summaries per hour | misses: median | p99 |")
	for i, m := range meshes {
		c := results[i]
		slices.Sort(c.misses)
		share := func(n uint64) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(c.requests)) }
		t.Logf("| %s | %s | %s | %s | %s | %.0f | %.1f ms | %.1f ms |", m.name, share(c.requests-c.origin-c.siblings), share(c.siblings), share(c.origin), share(c.wrong),
			float64(c.bytes)/1024/traceTime.Hours(), milliseconds(c.misses, 0.5), milliseconds(c.misses, 0.99))
	}
}

// milliseconds returns a quantile of sorted times.
func milliseconds(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))].Seconds() * 1000
}

// three returns names and addresses of the caches of a mesh.
func three(t *testing.T, prefix string) (names, addresses []string) {
	for _, s := range []string{"a", "b", "c"} {
		names, addresses = append(names, prefix+s), append(addresses, freeAddr(t))
	}
	return names, addresses
}

// umbels starts three umbel caches with further flags.
func umbels(t *testing.T, umbel string, cooperate bool, more ...string) *mesh {
	names, addresses := three(t, "umbel-")
	dir, m := t.TempDir(), &mesh{}
	flags := make([][]string, 3)
	for i := range names {
		flags[i] = slices.Concat(member(t, dir, names[i]), patience, more)
	}
	for i := range names {
		for j := range names {
			if i != j && cooperate {
				flags[i] = append(flags[i], "--peer", fmt.Sprintf("%s=http://%s,%s/%s.pub", names[j], addresses[j], dir, names[j]))
			}
		}
		c, status := startUmbelAt(t, umbel, addresses[i], flags[i]...)
		m.nodes = append(m.nodes, node{c, status})
	}
	return m
}

// squids starts three Squids that cooperate by a method.
func squids(t *testing.T, umbel, method string) *mesh {
	names, addresses := three(t, "squid-")
	icp := []string{freeAddr(t), freeAddr(t), freeAddr(t)}
	m := &mesh{}
	if method == "relay" {
		m.served = newMeter(t, startRelay(t, umbel, names, addresses))
	}
	for i := range names {
		var lines []string
		for j := range names {
			if i == j {
				continue
			}
			switch host, port, _ := strings.Cut(addresses[j], ":"); method {
			case "relay":
				lines = append(lines, digestPeer(names[j], addresses[j], m.served.url+"/"+names[j]+"/store_digest"))
			case "digests":
				lines = append(lines, digestPeer(names[j], addresses[j], ""))
			case "ICP":
				_, icpPort, _ := strings.Cut(icp[j], ":")
				lines = append(lines, fmt.Sprintf("cache_peer %s sibling %s %s no-digest no-netdb-exchange name=%s", host, port, icpPort, names[j]))
			}
		}
		if _, port, _ := strings.Cut(icp[i], ":"); method == "ICP" {
			lines = append(lines, "icp_port "+port, "icp_access allow localhost", "digest_generation off")
		}
		m.nodes = append(m.nodes, node{startAt(t, names[i], addresses[i], lines...), ""})
	}
	return m
}

// mixed starts two Squids, which read each other's digest through the relay, and an umbel-cache serve.
func mixed(t *testing.T, umbel string) *mesh {
	names, addresses := three(t, "mixed-")
	relay := startRelay(t, umbel, names[:2], addresses[:2])
	m := &mesh{served: newMeter(t, relay)}
	own := newMeter(t, addresses[2])
	own.bytes = m.served.bytes
	flags := append(append(member(t, t.TempDir(), names[2]), "--squid-digest"), patience...)
	for i := range 2 {
		other := 1 - i
		m.nodes = append(m.nodes, node{startAt(t, names[i], addresses[i],
			digestPeer(names[other], addresses[other], m.served.url+"/"+names[other]+"/store_digest"),
			digestPeer(names[2], addresses[2], own.url+"/squid-internal-periodic/store_digest")), ""})
		flags = append(flags, "--squid-peer", names[i]+"=http://"+addresses[i])
	}
	c, status := startUmbelAt(t, umbel, addresses[2], flags...)
	m.nodes = append(m.nodes, node{c, status})
	return m
}

// digestPeer returns the line of squid.conf for a sibling whose digest is read from a URL, or from it.
func digestPeer(name, addr, digest string) string {
	host, port, _ := strings.Cut(addr, ":")
	line := fmt.Sprintf("cache_peer %s sibling %s 0 no-query no-netdb-exchange name=%s", host, port, name)
	if digest != "" {
		line += " digest-url=" + digest
	}
	return line
}

func startRelay(t *testing.T, umbel string, names, addresses []string) string {
	relay := freeAddr(t)
	args := []string{"squid", "relay", "-q", "--listen", relay}
	for i := range names {
		args = append(args, "--squid-peer", names[i]+"="+addresses[i])
	}
	run(t, umbel, args...)
	return relay
}

// measure sends the trace to all caches of a mesh, and returns what happened after traceWarm.
func (m *mesh) measure(t *testing.T, n int) (c counts) {
	begin := time.Now().Add(traceWarm)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, x := range m.nodes {
		wg.Go(func() {
			var sent sync.WaitGroup
			ticker := time.NewTicker(time.Second / traceRate)
			defer ticker.Stop()
			for j, r := range trace(uint64(i), n) {
				<-ticker.C
				sent.Go(func() {
					start := time.Now()
					id := fmt.Sprint(m.name, i, ".", j)
					miss, err := x.trace(t, m.origin.url, r, id)
					took := time.Since(start)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(err)
					}
					if start.Before(begin) {
						return
					}
					c.requests++
					if miss {
						c.origin++
						c.misses = append(c.misses, took)
					}
				})
			}
			sent.Wait()
		})
	}
	time.Sleep(time.Until(begin))
	before := m.counters(t)
	wg.Wait()
	time.Sleep(2 * time.Second) // until the logs are written
	after := m.counters(t)
	c.siblings, c.wrong, c.bytes = after.siblings-before.siblings, after.wrong-before.wrong, after.bytes-before.bytes
	return c
}

// trace sends a request, and reports whether the origin answered it.
func (x node) trace(t *testing.T, site string, r request, id string) (bool, error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site+r.path, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept-Language", r.language)
	req.Header.Set("Trace", id)
	res, err := x.client.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if want := r.path; err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(string(b), want) {
		return false, fmt.Errorf("%s: status %d, %.40q, %v", r.path, res.StatusCode, b, err)
	}
	if object, _ := strconv.Atoi(r.path[1:]); varies(object) && !strings.HasPrefix(string(b), r.path+r.language) {
		return false, fmt.Errorf("%s in %s: got %.40q", r.path, r.language, b)
	}
	return res.Header.Get("Trace") == id, nil
}
