package client

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/research/cachetests/internal/origin"
	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
	"github.com/umbel-filters/umbel/research/cachetests/internal/verdict"
)

// tests returns the tests of testdata, whose responses are fresh or stale without a wait.
func tests(t *testing.T) []*suite.Test {
	t.Helper()
	f, err := os.Open("testdata/tests.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := suite.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// listen starts an origin that ends with the test.
func listen(t *testing.T) *origin.Server {
	t.Helper()
	s, err := origin.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// run runs the tests of testdata against a proxy with faults.
func run(t *testing.T, faults ...string) verdict.Verdicts {
	t.Helper()
	s := listen(t)
	c := &Client{Base: newProxy(t, "http://"+s.Addr(), faults...), Origin: s, Pause: time.Millisecond}
	v, err := c.Run(t.Context(), tests(t))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCorrectCache(t *testing.T) {
	v := run(t)
	if len(v) != len(tests(t)) {
		t.Errorf("%d verdicts, want one of each of %d tests", len(v), len(tests(t)))
	}
	for id, v := range v {
		if !v.Pass() {
			t.Errorf("%s: %v, want a pass", id, v)
		}
	}
}

// TestFaults tests that each fault of a cache is found by the tests about it, and by no others.
func TestFaults(t *testing.T) {
	const assertion, setup = verdict.Assertion, verdict.Setup
	for fault, want := range map[string]map[string]string{
		"stores nothing": {"reuse": assertion, "age": setup, "etag": assertion, "last-modified": assertion,
			"not-modified": assertion, "text": assertion},
		"ignores freshness":                 {"stale": assertion, "old": assertion, "etag": assertion, "last-modified": assertion},
		"ignores the query":                 {"query": assertion},
		"keeps after POST":                  {"invalidate": assertion},
		"never validates":                   {"etag": assertion, "last-modified": assertion},
		"ignores conditions":                {"not-modified": assertion},
		"ignores ranges":                    {"text": assertion},
		"drops Age":                         {"reuse": assertion, "age": assertion},
		"drops a line":                      {"fields": assertion},
		"changes Location":                  {"fields": assertion},
		"forwards fields of the connection": {"connection": assertion},
		"forwards HEAD as GET":              {"head": assertion},
		"drops interim responses":           {"interim": assertion},
		"changes the status":                {"status": setup},
		"repeats requests":                  {"stale": setup, "old": setup, "etag": setup, "last-modified": setup},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			got := map[string]string{}
			for id, v := range run(t, fault) {
				if !v.Pass() {
					got[id] = v.Kind
					t.Logf("%s: %v", id, v)
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("failures %v, want %v", got, want)
			}
		})
	}
}

// TestNotForwarding tests that a cache that does not forward to the origin has no verdicts.
func TestNotForwarding(t *testing.T) {
	s := listen(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, base := range []string{
		newProxy(t, "http://"+s.Addr(), "changes the body"),
		newProxy(t, "http://"+closed.Addr().String()), "http://" + closed.Addr().String(),
		"", "127.0.0.1:80", "ftp://127.0.0.1", "http://127.0.0.1/path",
	} {
		c := &Client{Base: base, Origin: s, Patience: time.Millisecond}
		if v, err := c.Run(t.Context(), tests(t)); err == nil {
			t.Errorf("%q has verdicts %v, want an error", base, v)
		}
	}
}

func TestCancel(t *testing.T) {
	s := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := &Client{Base: newProxy(t, "http://"+s.Addr()), Origin: s, Pause: time.Hour}
	c.Trace = func(*suite.Test, verdict.Verdict, []*Response, []origin.Seen) { cancel() }
	if v, err := c.Run(ctx, tests(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v, want the context's error", v, err)
	}
}
