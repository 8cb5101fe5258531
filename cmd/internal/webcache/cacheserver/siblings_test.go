package cacheserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/siblings"
)

// What one of three caches has stored comes from it to the others, and nothing from the origin.
func TestSiblings(t *testing.T) {
	const objects = 500
	for _, forward := range []bool{false, true} {
		t.Run(fmt.Sprint("forward=", forward), func(t *testing.T) {
			o := &counted{control: "max-age=300"}
			origin := originOf(t, o.ServeHTTP)
			list := startSiblings(t, 3, func(c *Config) {
				if !forward {
					c.Origin, c.Siblings.Host = origin, "www.example.org"
				}
			})
			site := origin.String()
			if !forward {
				site = "http://www.example.org"
			}
			for i := range objects {
				request(t, list[0], fmt.Sprint(site, "/", i))
			}
			request(t, list[0], site+"/cookie")
			for _, s := range list[1:] {
				await.True(t, "all are published", func() bool {
					n := 0
					for i := range objects {
						n += min(holders(t, s, fmt.Sprint(site, "/", i)), 1)
					}
					return n == objects
				})
				for i := range objects {
					res, body := request(t, s, fmt.Sprint(site, "/", i))
					if status := strings.Join(res.Header["Cache-Status"], ", "); !strings.HasPrefix(body, fmt.Sprintf("/%d ", i)) || !strings.Contains(status, "; hit; ttl=") {
						t.Fatalf("%d: %q, %q", i, body, status)
					}
				}
				if n := s.member.Status(); n.Hits != objects || n.Origin != 0 {
					t.Errorf("%d from siblings and %d from the origin, want %d and 0: %+v", n.Hits, n.Origin, objects, n)
				}
			}
			page := httptest.NewRecorder()
			list[1].statusPage().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			for _, line := range []string{fmt.Sprint("umbel_cache_sibling_hits_total ", objects), "umbel_cache_published 500"} {
				if !strings.Contains(page.Body.String(), line+"\n") {
					t.Errorf("the metrics do not contain %q", line)
				}
			}
			if n := o.count(); n != objects+1 {
				t.Errorf("the origin had %d requests, want %d", n, objects+1)
			}
			if n := list[0].member.Held().Len(); n != objects {
				t.Errorf("%d are published, want %d without the one that sets a cookie", n, objects)
			}
			if _, body := request(t, list[0], site+"/0"); !forward && !strings.Contains(body, "www.example.org") {
				t.Errorf("the origin had another host than --host: %q", body)
			}
		})
	}
}

// A response that was evicted or invalidated is not in the next version of the publication, and exactly those that are stored
// are.
func TestSiblingsEviction(t *testing.T) {
	o := &counted{control: "max-age=300"}
	origin := originOf(t, o.ServeHTTP)
	list := startSiblings(t, 2, func(c *Config) {
		c.Origin, c.Memory = origin, 1<<20
		c.Siblings.Rate = 1e-5 // the one that is removed below is a false positive in one run of a million
	})
	at := func(i int) string { return fmt.Sprint(origin, "/", i) }
	for i := range 300 { // 100 fit
		request(t, list[0], at(i))
	}
	var stored []int
	await.True(t, "what is stored is published, and nothing else", func() bool { // evictions are reported after a moment
		stored = stored[:0]
		for i := range 300 {
			res, _ := request(t, list[0], at(i), "Cache-Control: only-if-cached")
			has := res.StatusCode == http.StatusOK
			if has != list[0].member.Held().Has(siblings.Key(at(i))) {
				return false
			}
			if has {
				stored = append(stored, i)
			}
		}
		return len(stored) == list[0].Cache.Keys() && len(stored) < 150
	})
	one := at(stored[0])
	await.True(t, "it is published", func() bool { return holders(t, list[1], one) == 1 })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+list[0].Addr().String()+"/"+strings.TrimPrefix(one, origin.String()+"/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	await.True(t, "it is not published", func() bool { return holders(t, list[1], one) == 0 })
}

// A sibling gets the variant that it requests, with its age, also of a response that was validated and of one that an earlier
// process has stored on disk.
func TestSiblingsVariants(t *testing.T) {
	o := &counted{control: "max-age=300", vary: "Accept-Language"}
	origin := originOf(t, o.ServeHTTP)
	d := t.TempDir()
	var config Config
	list := startSiblings(t, 2, func(c *Config) {
		c.Origin, c.Siblings.Rate = origin, 1e-5
		if len(c.Siblings.Peers) > 0 && c.Siblings.Peers[0].Name == "1" {
			c.Disk = d
			config = *c
		}
	})
	at := origin.String() + "/a"
	request(t, list[0], at, "Accept-Language: de-CH, de")
	request(t, list[0], at, "Accept-Language: en")
	await.True(t, "it is published", func() bool { return holders(t, list[1], at, "Accept-Language: fr") == 1 })
	request(t, list[1], at, "Accept-Language: de-CH, de") // from here on it knows what selects
	await.True(t, "two variants are published", func() bool {
		return holders(t, list[1], at, "Accept-Language: en") == 1 && holders(t, list[1], at, "Accept-Language: fr") == 0
	})
	o.set("max-age=1")
	request(t, list[0], at, "Accept-Language: en", "Cache-Control: no-cache") // validated
	await.True(t, "it is stale", func() bool {
		res, _ := request(t, list[0], at, "Accept-Language: en", "Cache-Control: only-if-cached")
		return res.StatusCode == http.StatusGatewayTimeout
	})
	await.True(t, "it is not published", func() bool { return holders(t, list[1], at, "Accept-Language: en") == 0 })
	o.set("max-age=300")
	request(t, list[0], at, "Accept-Language: en") // validated
	await.True(t, "the validated one is published", func() bool { return holders(t, list[1], at, "Accept-Language: en") == 1 })
	before := o.count()
	res, body := request(t, list[1], at, "Accept-Language: en")
	if !strings.HasPrefix(body, "/a en ") || o.count() != before || res.Header.Get("Age") == "" {
		t.Errorf("got %q, %v, %d requests to the origin, want none", body, res.Header, o.count()-before)
	}

	request(t, list[0], at, "Accept-Language: it")
	if err := list[0].Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	list[0] = start(t, config)
	await.True(t, "what is on disk is published", func() bool { return holders(t, list[1], at, "Accept-Language: it") == 1 })
}

// A cache of another site answers no requests for this one, although the path is the same.
func TestSiblingsHost(t *testing.T) {
	o := &counted{control: "max-age=300"}
	origin := originOf(t, o.ServeHTTP)
	s := startSiblings(t, 1, func(c *Config) { c.Origin, c.Siblings.Host = origin, "www.example.org" })[0]
	request(t, s, "http://www.example.org/a")
	for host, want := range map[string]int{"www.example.org": http.StatusOK, "WWW.example.org:80": http.StatusOK, "other.example.org": http.StatusGatewayTimeout} {
		res, _ := request(t, s, "http://www.example.org/a", "Host: "+host, siblings.HopHeader+": n")
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", host, res.StatusCode, want)
		}
		if got := raw(t, s, "GET http://"+host+"/a HTTP/1.1\r\nHost: "+host+"\r\nCache-Control: only-if-cached\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, fmt.Sprint("HTTP/1.1 ", want)) {
			t.Errorf("%s: got %.40q, want status %d", host, got, want)
		}
	}
	for _, path := range []string{"/absent", "/cookie"} {
		res, _ := request(t, s, "http://www.example.org"+path, "Host: www.example.org", siblings.HopHeader+": n")
		if res.StatusCode != http.StatusGatewayTimeout || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get(siblings.HopHeader) == "" {
			t.Errorf("%s: status %d, %v", path, res.StatusCode, res.Header)
		}
	}
	// No request of a sibling reaches the origin.
	for _, line := range []string{"POST /a", "DELETE /a", "GET /a HTTP/1.1\r\nIf-Match: x", "GET /b HTTP/1.1\r\nUpgrade: x"} {
		method, fields, _ := strings.Cut(line, " HTTP/1.1\r\n")
		if got := raw(t, s, method+" HTTP/1.1\r\nHost: www.example.org\r\n"+siblings.HopHeader+": n\r\nContent-Length: 0\r\nConnection: close\r\n"+fields+"\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 504") {
			t.Errorf("%s: got %.40q, want 504", line, got)
		}
	}
	if n := o.count(); n != 1 {
		t.Errorf("the origin had %d requests, want 1", n)
	}
	if res, _ := request(t, s, "http://www.example.org"+siblings.Path+"/head"); res.StatusCode != http.StatusForbidden {
		t.Errorf("the publication without the token: status %d, want 403", res.StatusCode)
	}
}
