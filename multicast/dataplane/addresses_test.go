package dataplane_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/topology"
)

func TestConsecutive(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		nodes int
		last  string // "": an error
	}{
		"three":         {"127.0.0.1:9000", 3, "127.0.0.1:9002"},
		"to the end":    {"[::1]:65530", 6, "[::1]:65535"},
		"past the end":  {"[::1]:65530", 7, ""},
		"below zero":    {"127.0.0.1:9000", -1, ""},
		"from any port": {"127.0.0.1:0", 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := dataplane.Consecutive(netip.MustParseAddrPort(c.first), c.nodes)
			if c.last == "" {
				if err == nil {
					t.Errorf("got %v, want an error", all)
				}
				return
			}
			if err != nil || len(all) != c.nodes || all[0].String() != c.first || all[len(all)-1].String() != c.last {
				t.Errorf("got %v, %v; want %d from %s to %s", all, err, c.nodes, c.first, c.last)
			}
		})
	}
	if _, err := dataplane.Consecutive(netip.AddrPort{}, 1); err == nil {
		t.Error("no first address, and no error")
	}
}

// towns is a graph whose nodes have names as in maps.
var towns = &topology.Graph{
	Nodes: []topology.Node{{Name: "New York"}, {Name: "Linz"}, {Name: "Győr"}},
	Links: []topology.Link{{A: 0, B: 1, Weight: 1}, {A: 1, B: 2, Weight: 1}},
}

const townHosts = `# where they are
Linz      10.0.0.2:9000

New York  10.0.0.1:9000
Győr	10.0.0.3:9001
`

func TestReadHosts(t *testing.T) {
	all, err := dataplane.ReadHosts(strings.NewReader("\ufeff"+townHosts), towns)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(all), "[10.0.0.1:9000 10.0.0.2:9000 10.0.0.3:9001]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	sites, err := dataplane.NodeConfigs(towns, all)
	if err != nil {
		t.Fatal(err)
	}
	want := dataplane.NodeConfig{Name: "Linz", Listen: all[1], Neighbors: []dataplane.Neighbor{
		{Name: "New York", Address: all[0]}, {Name: "Győr", Address: all[2]},
	}}
	if got := sites[1]; got.Name != want.Name || got.Listen != want.Listen || !slices.Equal(got.Neighbors, want.Neighbors) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := dataplane.NodeConfigs(towns, all[:2]); err == nil {
		t.Error("two addresses were enough for three nodes")
	}
	if _, err := dataplane.NodeConfigs(towns, []netip.AddrPort{all[0], all[1], all[0]}); err == nil {
		t.Error("two neighbors have one address, and no error")
	}
}

func TestReadHostsRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a node is missing": {"Linz 10.0.0.2:1\nNew York 10.0.0.1:1\n", `no address for node "Győr"`},
		"an unknown node":   {"Wien 10.0.0.2:1\n", `"Wien"`},
		"no name":           {"\n10.0.0.2:1\n", `line 2`},
		"no port":           {"Linz 10.0.0.2\n", `line 1: node "Linz"`},
		"twice":             {"Linz 10.0.0.2:1\nLinz 10.0.0.3:1\n", "line 2"},
		"a long line":       {"# " + strings.Repeat("x", 5000), "after line 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dataplane.ReadHosts(strings.NewReader(c.text), towns)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// FuzzReadHosts reads untrusted addresses. Either all nodes have one, or ReadHosts returns an
// error.
func FuzzReadHosts(f *testing.F) {
	f.Add(townHosts)
	f.Add("Linz 10.0.0.2:1\nLinz [::1]:1\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := dataplane.ReadHosts(strings.NewReader(text), towns)
		if err != nil {
			return
		}
		var b strings.Builder
		for i, n := range towns.Nodes {
			fmt.Fprintf(&b, "%s %v\n", n.Name, all[i])
		}
		again, err := dataplane.ReadHosts(strings.NewReader(b.String()), towns)
		if err != nil || !slices.Equal(all, again) {
			t.Errorf("read %v, %v; want %v", again, err, all)
		}
	})
}
