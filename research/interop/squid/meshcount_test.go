package squid

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// counts is what a mesh did in a time.
type counts struct {
	requests, origin, siblings, wrong uint64
	bytes                             uint64 // of summaries, or of queries and replies
	misses                            []time.Duration
}

// meter counts the bytes of what a server answers.
type meter struct {
	url   string
	bytes *atomic.Uint64
}

func newMeter(t *testing.T, addr string) *meter {
	m := &meter{bytes: new(atomic.Uint64)}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	proxy.ModifyResponse = func(res *http.Response) error {
		m.bytes.Add(uint64(max(res.ContentLength, 0)))
		return nil
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// counters returns what the caches of a mesh have counted and logged until now.
func (m *mesh) counters(t *testing.T) (c counts) {
	for _, x := range m.nodes {
		if x.status == "" {
			x.scan(t, &c)
			continue
		}
		s := statusOf(t, x.status)
		c.siblings += s.Siblings.Hits
		if m.served != nil { // Squids count nothing of their requests to it
			c.wrong += s.Errors
		}
		for _, p := range s.Siblings.Peers {
			c.wrong += p.Absent + p.Refused
			if m.served == nil { // the Squids have counted theirs
				c.bytes += p.ReceivedBytes
			}
		}
	}
	if m.served != nil {
		c.bytes += m.served.bytes.Load()
	}
	return c
}

// scan adds what the access log of a Squid has:
//
//	time elapsed client code/status bytes method URL user hierarchy/peer type
func (x node) scan(t *testing.T, c *counts) {
	f, err := os.Open(filepath.Join(x.dir, "access.log"))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		w := strings.Fields(s.Text())
		if len(w) < 10 {
			continue
		}
		bytes, _ := strconv.ParseUint(w[4], 10, 64)
		switch {
		case strings.HasSuffix(w[6], "/store_digest"):
			c.bytes += bytes
		case w[5] == "ICP_QUERY":
			c.bytes += 2*bytes + 4 // a query has the address of the host more than its reply
		case strings.Contains(w[8], "SIBLING_HIT"):
			c.siblings++
		case strings.HasSuffix(w[3], "/504"):
			c.wrong++
		}
	}
}
