package competitors

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/maps"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
)

// number returns the number in an environment variable, or a default.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// list returns the words in an environment variable, or a default.
func list(name, otherwise string) []string {
	if s := os.Getenv(name); s != "" {
		return strings.Fields(s)
	}
	return strings.Fields(otherwise)
}

// known are the maps that there are limits for, few those whose figures take little time.
const (
	few   = "sndlib-ta2 rocketfuel-as3257"
	known = "sndlib-ta2 rocketfuel-as1221 rocketfuel-as3967 rocketfuel-as3257 rocketfuel-as6461 rocketfuel-as1239"
)

// most is the largest number of bits of umbel's headers to 16 receivers, with the seed.
var most = map[string]float64{
	"sndlib-ta2": 140, "rocketfuel-as1221": 166, "rocketfuel-as3967": 167,
	"rocketfuel-as3257": 207, "rocketfuel-as6461": 189, "rocketfuel-as1239": 261,
}

// TestFigures logs the bits of all schemes on saved maps and checks the limits of each.
// UMBEL_MAPS, UMBEL_SCHEMES and UMBEL_RECEIVERS select cases, by default all to 16 receivers.
// UMBEL_TREES is the number of trees of each, by default 20, and UMBEL_SEEDS umbel's effort.
func TestFigures(t *testing.T) {
	t.Logf("%-18s %3s %-8s %7s %6s %6s %7s %8s %8s %6s %6s %6s %6s %8s  %s",
		"map", "to", "scheme", "bits", "p95", "bytes", "links", "copies", "eff", "total", "loops", "storms", "can't", "ms", "forms")
	for _, name := range list("UMBEL_MAPS", known) {
		g := maps.Graph(t, name)
		for _, receivers := range list("UMBEL_RECEIVERS", "16") {
			n, err := strconv.Atoi(receivers)
			if err != nil {
				t.Fatal(err)
			}
			for _, with := range list("UMBEL_SCHEMES", strings.Join(Names(), " ")) {
				s, err := ByName(with, Options{Seeds: number("UMBEL_SEEDS", 0)})
				if err != nil {
					t.Fatal(err)
				}
				r, err := sim.Experiment{
					Graph: g, Scheme: s, Receivers: n, Trees: number("UMBEL_TREES", 20), Seed: 1, Key: inpacket.Key{1}, Workers: number("UMBEL_WORKERS", 1),
				}.Run(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%-18s %3d %-8s %7.1f %6.0f %6.1f %7.1f %8.1f %8.4f %6.4f %6.3f %6.3f %6.3f %8.3f  %v", name, n, with,
					r.MeanBits, r.P95Bits, r.MeanBytes, r.TreeLinks, r.Copies, r.Efficiency, r.TotalEfficiency, r.Loops, r.Storms, r.Unplanned, r.SearchMS, r.Forms)
				if limit, ok := most[name]; ok && with == "umbel" && n == 16 && r.MeanBits > limit {
					t.Errorf("%s: %.1f bits to 16 receivers, want at most %g", name, r.MeanBits, limit)
				}
				if r.LostReceivers > 0 && r.Storms == 0 && r.Unplanned == 0 {
					t.Errorf("%s on %s: %g of the receivers lost", with, name, r.LostReceivers)
				}
				if exact := with == "umbel" || with == "bier-te"; exact && (r.Efficiency != 1 || r.Loops != 0 || r.Duplicates != 0) {
					t.Errorf("%s on %s: efficiency %g, loops %g, want 1 and 0", with, name, r.Efficiency, r.Loops)
				}
			}
		}
	}
}

// TestStaleFigures logs the deliveries of headers if links fail and are added after the headers
// were made.
func TestStaleFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Logf("%-18s %-8s %5s %4s %8s %8s %8s %8s %8s", "map", "scheme", "fail", "add", "lost", "cut off", "eff", "loops", "storms")
	for _, name := range list("UMBEL_MAPS", few) {
		g := maps.Graph(t, name)
		for _, with := range list("UMBEL_SCHEMES", strings.Join(Names(), " ")) {
			s, err := ByName(with, Options{Seeds: number("UMBEL_SEEDS", 0)})
			if err != nil {
				t.Fatal(err)
			}
			e := sim.Experiment{Graph: g, Scheme: s, Receivers: 16, Trees: number("UMBEL_TREES", 20), Seed: 1, Key: inpacket.Key{1}, Together: true}
			curve, err := e.Stale(t.Context(), []sim.Change{{}, {Fail: 1}, {Fail: 4}, {Fail: 16}, {Add: 1}, {Add: 4}, {Add: 16}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range curve {
				t.Logf("%-18s %-8s %5d %4d %8.4f %8.4f %8.4f %8.4f %8.4f", name, with, r.Fail, r.Add, r.LostReceivers, r.CutOff, r.Efficiency, r.Loops, r.Storms)
				if r.Fail == 0 && r.Storms == 0 && r.LostReceivers != 0 {
					t.Errorf("%s on %s: no link failed, and %g of the receivers are lost", with, name, r.LostReceivers)
				}
			}
		}
	}
}

// TestRepairFigures logs the lost receivers after links fail: before any router notices, when
// the routers at the ends of the links use detours, and when all routers have new tables.
func TestRepairFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	around := scheme.Routers{Repair: true}
	cases := []struct {
		name    string
		scheme  string
		options Options
		notice  sim.FailureKnowledge
	}{
		{"umbel, unnoticed", "umbel", Options{}, sim.Unnoticed},
		{"umbel, single, slack 4, repair", "umbel", Options{Forms: []inpacket.Form{inpacket.Single}, Slack: 4, Routers: around}, sim.AtEnds},
		{"lipsin, unnoticed", "lipsin", Options{}, sim.Unnoticed},
		{"lipsin, repair", "lipsin", Options{Routers: around}, sim.AtEnds},
		{"bier, unnoticed", "bier", Options{}, sim.Unnoticed},
		{"bier, rebuilt", "bier", Options{}, sim.Rebuilt},
	}
	t.Logf("%-18s %-31s %4s %7s %7s %8s %8s %8s %7s", "map", "scheme", "fail", "bits", "copies", "lost", "eff", "loops", "twice")
	for _, name := range list("UMBEL_MAPS", few) {
		g := maps.Graph(t, name)
		for _, c := range cases {
			s, err := ByName(c.scheme, c.options)
			if err != nil {
				t.Fatal(err)
			}
			e := sim.Experiment{Graph: g, Scheme: s, Receivers: 16, Trees: number("UMBEL_TREES", 20), Seed: 1, Key: inpacket.Key{1},
				Together: true, Knowledge: c.notice}
			curve, err := e.Stale(t.Context(), []sim.Change{{Fail: 1}, {Fail: 4}, {Fail: 16}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range curve {
				t.Logf("%-18s %-31s %4d %7.1f %7.1f %8.4f %8.4f %8.4f %7.3f", name, c.name, r.Fail, r.MeanBits, r.Copies, r.LostReceivers, r.Efficiency, r.Loops, r.Twice)
				if c.notice == sim.Rebuilt && r.LostReceivers != 0 {
					t.Errorf("%s on %s: %g of the receivers lost, though there is a way to each", c.name, name, r.LostReceivers)
				}
			}
		}
	}
}
