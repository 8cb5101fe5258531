package squid

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

const (
	held    = 2000 // objects of the publisher
	queried = 500  // of them by each reader, and as many that it does not have
)

// origin is a web server whose responses can be stored for a day. Below /v/ they depend on Accept-Language.
func origin(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=86400")
		if strings.HasPrefix(r.URL.Path, "/v/") {
			w.Header().Set("Vary", "Accept-Language")
		}
		fmt.Fprintln(w, r.URL.Path)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// fetch requests URLs through a Squid, 16 at a time.
func (c *cache) fetch(t *testing.T, header http.Header, urls ...string) {
	t.Helper()
	var wg sync.WaitGroup
	next := make(chan string)
	for range 16 {
		wg.Go(func() {
			for url := range next {
				req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
				if err != nil {
					t.Error(err)
					continue
				}
				req.Header = header.Clone()
				resp, err := c.client.Do(req)
				if err != nil {
					t.Error(err)
					continue
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 200 {
					t.Errorf("%s: %s", url, resp.Status)
				}
			}
		})
	}
	for _, url := range urls {
		next <- url
	}
	close(next)
	wg.Wait()
}

// numbered returns n URLs.
func numbered(prefix string, n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = fmt.Sprint(prefix, i)
	}
	return urls
}

// digestOf fetches a digest. It returns nil while there is none.
func digestOf(ctx context.Context, t *testing.T, url string) *squid.Filter {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		return nil
	}
	d, err := squid.Parse(b, squid.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Filter()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// missing returns the URLs that a digest does not have.
func missing(t *testing.T, f *squid.Filter, mark string, urls ...string) (absent []string) {
	t.Helper()
	for _, url := range urls {
		uri, err := squid.CanonicalURI(url)
		if err != nil {
			t.Fatal(err)
		}
		if !f.HasBytes(squid.AppendKey(nil, squid.MethodGet, uri, mark)) {
			absent = append(absent, url)
		}
	}
	return absent
}

// TestRelay: a Squid that reads the digest of another one through umbel finds all its objects. A Squid up to version 7
// that reads it directly finds a part of them.
func TestRelay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two minutes")
	}
	site := origin(t)
	a := start(t, "squid-a")
	objects := numbered(site+"/o/", held)
	a.fetch(t, nil, objects...)
	variants := http.Header{"Accept-Language": {"de-CH, fr;q=0.5"}}
	a.fetch(t, variants, site+"/v/0")
	own := "http://" + a.addr + "/squid-internal-periodic/store_digest"
	mark := squid.VaryMark(squid.Field{Name: "Accept-Language", Value: "de-CH, fr;q=0.5"})
	await.True(t, "the digest has all objects", func() bool {
		f := digestOf(t.Context(), t, own)
		return f != nil && len(missing(t, f, "", append(objects, site+"/v/0")...)) == 0 && len(missing(t, f, mark, site+"/v/0")) == 0
	})

	umbel, err := proc.Build(t.Context(), t.TempDir(), "umbel-cache")
	if err != nil {
		t.Fatal(err)
	}
	relay, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	run(t, umbel, "squid", "relay", "--listen", relay, "--squid-peer", "a="+a.addr)
	relayed := "http://" + relay + "/a/store_digest"
	await.True(t, "the relay has the digest", func() bool {
		f := digestOf(t.Context(), t, relayed)
		return f != nil && len(missing(t, f, "", objects...)) == 0
	})

	host, port, _ := strings.Cut(a.addr, ":")
	peer := fmt.Sprintf("cache_peer %s sibling %s 0 no-query no-netdb-exchange name=squid-a", host, port)
	through := a.hits(t, start(t, "squid-relayed", peer+" digest-url="+relayed), site, objects)
	direct := a.hits(t, start(t, "squid-direct", peer), site, objects)
	program := version(t)
	t.Logf("%s: %d of %d objects found through umbel, %d directly", program, through, queried, direct)
	if through != queried {
		t.Errorf("%d of %d objects found through umbel, want all", through, queried)
	}
	if hasBug(program) && direct == queried {
		t.Errorf("all objects found directly, want fewer: %s has bug 5510", program)
	}
}

// hasBug reports whether a version of Squid damages the digests that it receives.
func hasBug(version string) bool {
	return regexp.MustCompile(`Version [567]\.`).MatchString(version)
}

// hits returns the number of objects that the reader b gets from a, because they are in its digest.
func (a *cache) hits(t *testing.T, b *cache, site string, objects []string) int {
	t.Helper()
	// The reader fetches the digest at the first request that could use it.
	spare := objects[queried:]
	await.True(t, "the reader uses the digest", func() bool {
		b.fetch(t, nil, spare[0]) // one at a time, so that they suffice for three minutes
		spare = spare[1:]
		return len(b.log(t, "CD_SIBLING_HIT")) > 0
	})
	b.fetch(t, nil, objects[:queried]...)
	const asked = `/o/([0-9]|[1-9][0-9]|[1-4][0-9][0-9]) - ` // the numbers below queried
	await.True(t, "the reader logs all requests", func() bool { return len(b.log(t, asked)) == queried })
	n := len(b.log(t, asked+"CD_SIBLING_HIT"))
	failed := len(a.log(t, "/504 .*/absent/"))
	b.fetch(t, nil, numbered(site+"/absent/"+filepath.Base(b.dir)+"/", queried)...)
	t.Logf("%d of %d absent objects were requested from the peer", len(a.log(t, "/504 .*/absent/"))-failed, queried)
	return n
}

// TestURIs: the keys of these URLs are in the digest of a Squid that stored their objects.
func TestURIs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	site := origin(t)
	host := strings.TrimPrefix(site, "http://")
	a := start(t, "squid-uris")
	targets := []string{
		site + "/a?q#fragment", "HTTP://" + host + "/Upper", site, site + "?q=1", site + "#f", site + "/%7Eu/%2f", site + "/a/../b",
		site + "/sp ace", site + "/é", site + "/a|b\"<>", site + "//x", site + "/tail?", site + "/t#", "http://" + strings.Replace(host, ":", ":0", 1) + "/zero",
	}
	for _, target := range targets {
		a.raw(t, target)
	}
	await.True(t, "the digest has all objects", func() bool {
		f := digestOf(t.Context(), t, "http://"+a.addr+"/squid-internal-periodic/store_digest")
		return f != nil && len(missing(t, f, "", targets...)) == 0
	})
}

// raw sends a request whose target is as given.
func (c *cache) raw(t *testing.T, target string) {
	t.Helper()
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target)
	if b, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 200 ") {
		t.Errorf("%s: %.40q, %v", target, b, err)
	}
}
