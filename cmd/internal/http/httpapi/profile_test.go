package httpapi

import (
	"bytes"
	"strings"
	"testing"
)

// Profiles and traces have the forms that go tool pprof and go tool trace read, and queries that are not understood are refused.
func TestProfiles(t *testing.T) {
	n := serve(t, Options{Profile: true})
	n.want(n.ask("GET", "/debug/pprof/", ""), 200, "heap\t", "goroutine\t", "profile?seconds=30")
	n.want(n.ask("GET", "/debug/pprof/goroutine?debug=1", ""), 200, "goroutine profile: total ")
	n.want(n.ask("GET", "/debug/pprof/heap?gc=1&debug=1", ""), 200, "heap profile: ")
	for path, begin := range map[string][]byte{
		"allocs": {0x1f, 0x8b}, "heap?debug=0": {0x1f, 0x8b}, "profile?seconds=0.01": {0x1f, 0x8b}, "trace?seconds=0.01": []byte("go 1."),
	} {
		r := n.ask("GET", "/debug/pprof/"+path, "")
		if r.StatusCode != 200 || !bytes.HasPrefix([]byte(r.body), begin) || r.Header.Get("Content-Type") != octets {
			t.Errorf("%s: %s, %q, %.20q", path, r.Status, r.Header.Get("Content-Type"), r.body)
		}
	}
	n.wantProblem(n.ask("GET", "/debug/pprof/none", ""), 404, "no-path")
	for _, path := range []string{"heap?seconds=1", "profile?seconds=0", "profile?seconds=x", "trace?seconds=-1", "trace?seconds=NaN", "trace?seconds=3601"} {
		n.wantProblem(n.ask("GET", "/debug/pprof/"+path, ""), 400, "bad-request")
	}
	if r := n.ask("GET", "/debug/pprof/cmdline", ""); !strings.Contains(r.body, ".test") {
		t.Errorf("command line %q", r.body)
	}
}
