package competitors

import (
	"bytes"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/research/competitors/lipsin"
)

func TestByName(t *testing.T) {
	if want := []string{"umbel", "lipsin", "adaptive", "bier", "bier-te"}; !slices.Equal(Names(), want) {
		t.Errorf("names %v, want %v", Names(), want)
	}
	n := networks(t)["grid"]
	for _, name := range Names() {
		s, err := ByName(name, Options{Seeds: 3, Slack: 1, TTL: 40, Links: 50, Rate: 0.02, MaxBSL: 256})
		if err != nil || s.Name() != name {
			t.Fatalf("%s: %v, %v", name, s, err)
		}
		domain(t, s, n)
	}
	if _, err := ByName("flood", Options{}); err == nil {
		t.Error("a scheme there isn't: no error")
	}
	// Each option changes the scheme that has it.
	tr := trees(t, n, 1, 10)[0]
	for _, c := range []struct {
		name   string
		scheme string
		o      Options
	}{
		{"forms", "umbel", Options{Forms: []inpacket.Form{inpacket.Folded}}},
		{"seeds", "umbel", Options{Seeds: 1}},
		{"stray", "umbel", Options{MaxFalseMatch: 1e-4}},
		{"slack", "umbel", Options{Slack: 3}},
		{"ttl", "lipsin", Options{TTL: 40}},
		{"design", "lipsin", Options{Lipsin: lipsin.Parameters{M: 200, K: 5, Sets: 8, MaxFill: 0.7}}},
		{"ttl", "adaptive", Options{TTL: 40}},
		{"links", "adaptive", Options{Links: 60}},
		{"rate", "adaptive", Options{Rate: 0.1}},
	} {
		plain, _ := ByName(c.scheme, Options{})
		changed, _ := ByName(c.scheme, c.o)
		a, b := plan(t, domain(t, plain, n), tr, 1), plan(t, domain(t, changed, n), tr, 1)
		if bytes.Equal(a.Headers[0], b.Headers[0]) {
			t.Errorf("%s: %s changes nothing", c.scheme, c.name)
		}
	}
}
