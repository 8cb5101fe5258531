package squid

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
	"github.com/umbel-filters/umbel/share"
)

// startUmbel starts umbel-cache serve as a forward proxy that serves a cache digest and, if squid is not nil, reads that of a Squid.
func startUmbel(t *testing.T, umbel, name string, squid *cache) (c *cache, status string) {
	t.Helper()
	args := append(member(t, t.TempDir(), name), "--squid-digest", "--patience", "10s")
	if squid != nil {
		args = append(args, "--squid-peer", "squid=http://"+squid.addr)
	}
	return startUmbelAt(t, umbel, freeAddr(t), args...)
}

// member makes the key of a node in a directory, and returns the flags with which umbel-cache serve uses it.
func member(t *testing.T, dir, name string) []string {
	t.Helper()
	key, token := filepath.Join(dir, name+".key"), filepath.Join(dir, "token")
	_, private, err := share.NewKey("example.org/" + name)
	if err == nil {
		err = os.WriteFile(key, []byte(private+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(token, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--siblings", "--key", key, "--secret-file", token}
}

// startUmbelAt starts umbel-cache serve as a forward proxy at an address. status is the URL of its counters.
func startUmbelAt(t *testing.T, umbel, addr string, flags ...string) (c *cache, status string) {
	t.Helper()
	page := freeAddr(t)
	run(t, umbel, append([]string{"serve", "--listen", addr, "--status", page}, flags...)...)
	proxy := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: addr}), MaxIdleConnsPerHost: 16}
	t.Cleanup(proxy.CloseIdleConnections)
	status = "http://" + page + "/status.json"
	await.True(t, "umbel-cache serve listens", func() bool {
		res, err := http.Get(status)
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	return &cache{addr: addr, client: &http.Client{Transport: proxy, Timeout: time.Minute}}, status
}

// report is what the status page of umbel-cache serve has.
type report struct {
	Errors   uint64 // among them the requests of Squids for what is absent
	Siblings struct {
		Hits, Origin uint64
		Peers        []struct {
			Version, Hits, Absent, Refused, Failed, ReceivedBytes uint64
			Problem                                               string
		}
	}
}

func statusOf(t *testing.T, page string) (m report) {
	t.Helper()
	res, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSiblings: a Squid finds all objects that umbel-cache serve has stored, by its digest, and umbel-cache serve those of the Squid.
func TestSiblings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes three minutes")
	}
	umbel, err := proc.Build(t.Context(), t.TempDir(), "umbel-cache")
	if err != nil {
		t.Fatal(err)
	}
	site := origin(t)
	ofSquid, ofUmbel := numbered(site+"/o/", queried), numbered(site+"/o/1", held) // 1 and more digits: the numbers of hits begin at 0
	german := http.Header{"Accept-Language": {"de-CH, fr;q=0.5"}}

	// umbel-cache serve from Squid.
	a := start(t, "squid-a")
	a.fetch(t, nil, ofSquid...)
	a.fetch(t, german, site+"/v/0")
	await.True(t, "the digest of the Squid has all objects", func() bool {
		f := digestOf(t.Context(), t, "http://"+a.addr+"/squid-internal-periodic/store_digest")
		return f != nil && len(missing(t, f, "", append(ofSquid, site+"/v/0")...)) == 0
	})
	u, status := startUmbel(t, umbel, "u", a)
	await.True(t, "umbel-cache serve has the digest", func() bool {
		p := statusOf(t, status).Siblings.Peers[0]
		return p.Version > 0 && p.Problem == ""
	})
	u.fetch(t, nil, ofSquid...)
	u.fetch(t, german, site+"/v/0")
	if s := statusOf(t, status).Siblings; s.Hits != queried+1 || s.Origin != 0 {
		t.Errorf("%d objects came from the Squid and %d from the origin, want %d and 0: %+v", s.Hits, s.Origin, queried+1, s)
	}
	before := statusOf(t, status).Siblings.Hits
	u.fetch(t, http.Header{"Accept-Language": {"en"}}, site+"/v/0")
	u.fetch(t, nil, numbered(site+"/absent/", queried)...)
	s := statusOf(t, status).Siblings
	t.Logf("%d of %d absent objects were requested from the Squid", s.Peers[0].Absent, queried)
	if s.Hits != before || s.Origin != queried+1 || s.Peers[0].Failed > 0 || s.Peers[0].Absent > queried/5 {
		t.Errorf("absent objects: %+v", s)
	}

	// Squid from umbel-cache serve.
	v, status := startUmbel(t, umbel, "v", nil)
	v.fetch(t, nil, ofUmbel...)
	v.fetch(t, german, site+"/v/1")
	await.True(t, "the digest of umbel-cache serve has all objects", func() bool {
		f := digestOf(t.Context(), t, "http://"+v.addr+"/squid-internal-periodic/store_digest")
		return f != nil && len(missing(t, f, "", append(ofUmbel, site+"/v/1")...)) == 0
	})
	host, port, _ := strings.Cut(v.addr, ":")
	b := start(t, "squid-b", fmt.Sprintf("cache_peer %s sibling %s 0 no-query no-netdb-exchange name=umbel", host, port))
	spare := ofUmbel[queried:]
	await.True(t, "the Squid uses the digest", func() bool {
		b.fetch(t, nil, spare[0]) // one at a time, so that they suffice for three minutes
		spare = spare[1:]
		return len(b.log(t, "CD_SIBLING_HIT")) > 0
	})
	used := statusOf(t, status).Siblings
	b.fetch(t, nil, ofUmbel[:queried]...)
	b.fetch(t, german, site+"/v/1")
	const objects = `/(o/1([0-9]|[1-9][0-9]|[1-4][0-9][0-9])|v/1) - `
	await.True(t, "the Squid logs all requests", func() bool { return len(b.log(t, objects)) == queried+1 })
	if n := len(b.log(t, objects+"CD_SIBLING_HIT")); n != queried+1 {
		t.Errorf("%d of %d objects came from umbel-cache serve", n, queried+1)
	}
	if after := statusOf(t, status).Siblings; after.Origin != used.Origin {
		t.Errorf("umbel-cache serve requested %d objects from the origin for the Squid, want none", after.Origin-used.Origin)
	}
}
