package cacheserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/httptarget"
)

// requestTarget sends a GET request with a target as it is.
func requestTarget(t *testing.T, s *Server, target, host string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// Caches find each other's responses under the URL that the origin got, also if Go would write it in another way, and never those of a URL
// that is similar.
func TestSiblingsTarget(t *testing.T) {
	targets := []string{"/a?p=linux.git;a=tree", "/a?p=linux.git", "/a", "/{b}%2Fc", "/%7Bb%7D/c", "/%7Bb%7D%2Fc", "/f?%zz", "/f?", "//g", "/g", "/\xff", "/h#i", "/h"}
	for _, forward := range []bool{false, true} {
		t.Run(fmt.Sprint("forward=", forward), func(t *testing.T) {
			origin := originOf(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=300")
				fmt.Fprint(w, r.RequestURI)
			})
			list := startSiblings(t, 2, func(c *Config) {
				if !forward {
					c.Origin = origin
				}
			})
			sent := func(target string) string {
				if forward {
					return origin.String() + target
				}
				return target
			}
			for _, target := range targets {
				if res, body := requestTarget(t, list[0], sent(target), origin.Host); body != target || res.StatusCode != http.StatusOK {
					t.Errorf("%s: the origin gets %q (%s)", target, body, res.Status)
				}
			}
			for _, target := range targets {
				u, err := httptarget.Parse(origin.String() + target)
				if err != nil {
					t.Fatal(err)
				}
				await.True(t, target+" is published", func() bool { return len(list[1].member.Holds(&http.Request{URL: u, Host: u.Host})) == 1 })
				res, body := requestTarget(t, list[1], sent(target), origin.Host)
				if status := strings.Join(res.Header["Cache-Status"], ", "); body != target || !strings.Contains(status, "; hit; ttl=") {
					t.Errorf("%s: %q with %q, want the response of the sibling", target, body, status)
				}
			}
			if n := list[1].member.Status(); n.Origin != 0 || n.Hits != uint64(len(targets)) || list[0].member.Held().Len() != len(targets) {
				t.Errorf("%+v", n)
			}
		})
	}
}
