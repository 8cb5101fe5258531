package redisbloom

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

func words(s string) [][]byte {
	var ws [][]byte
	for w := range strings.FieldsSeq(s) {
		ws = append(ws, []byte(w))
	}
	return ws
}

func TestReserveOptions(t *testing.T) {
	for _, c := range []struct {
		args    string
		want    redisbloom.Options
		problem string
	}{
		{"0.01 100", redisbloom.Options{ErrorRate: 0.01, Capacity: 100, Expansion: 2}, ""},
		{"1e-300 1073741824 EXPANSION 32768", redisbloom.Options{ErrorRate: 1e-300, Capacity: 1 << 30, Expansion: 32768}, ""},
		{"0.01 100 expansion 0", redisbloom.Options{ErrorRate: 0.01, Capacity: 100, NonScaling: true}, ""},
		{"0." + strings.Repeat("0", 300) + "1e300 100", redisbloom.Options{ErrorRate: 0.1, Capacity: 100, Expansion: 2}, ""},
		{"0.01 100 FOO nonscaling", redisbloom.Options{ErrorRate: 0.01, Capacity: 100, Expansion: 2, NonScaling: true}, ""},
		{args: "1e-400 100", problem: badErrorRate},
		{args: "0.0_1 100", problem: badErrorRate},
		{args: "-inf 100", problem: errorRateRange},
		{args: "0e5 100", problem: errorRateRange},
		{args: "0.01 +5", problem: badCapacity},
		{args: "0.01 05", problem: badCapacity},
		{args: "0.01 -0", problem: badCapacity},
		{args: "0.01 9223372036854775807", problem: capacityRange},
		{args: "0.01 100 EXPANSION EXPANSION", problem: badExpansion},
		{args: "0.01 100 NONSCALING EXPANSION", problem: noExpansion},
		{args: "0.01 100 NONSCALING EXPANSION 1", problem: cannotExpand},
		{args: "0.01 100 EXPANSION -1 NONSCALING", problem: cannotExpand},
	} {
		got, problem := reserveOptions(words(c.args))
		if problem != c.problem || problem == "" && got != c.want {
			t.Errorf("%s: %+v, %q, want %+v, %q", c.args, got, problem, c.want, c.problem)
		}
	}
}

func TestInsertOptions(t *testing.T) {
	seed := strings.Repeat("s", 32)
	defaults := redisbloom.Options{ErrorRate: 0.01, Capacity: 100, Expansion: 2}
	with := func(change func(*insertion)) insertion {
		o := insertion{Options: defaults, hasher: redisbloom.RedisHasher}
		change(&o)
		return o
	}
	for _, c := range []struct {
		args    string
		want    insertion
		problem string
	}{
		{"ITEMS a", with(func(o *insertion) { o.items = 1 }), ""},
		{"i a", with(func(o *insertion) { o.items = 1 }), ""},
		{"noc n items ITEMS", with(func(o *insertion) { o.noCreate, o.fixed, o.NonScaling, o.items = true, true, true, 3 }), ""},
		{"NXC i a", with(func(o *insertion) { o.noCreate, o.items = true, 2 }), ""},
		{"NON i a", with(func(o *insertion) { o.fixed, o.NonScaling, o.items = true, true, 2 }), ""},
		{"cap 7 err 0.5 exp 3 it a b", with(func(o *insertion) {
			o.Capacity, o.ErrorRate, o.Expansion, o.items = 7, 0.5, 3, 7
		}), ""},
		{"E 0 ITEMS a", with(func(o *insertion) { o.Expansion, o.NonScaling, o.items = 0, true, 3 }), ""},
		{"E 0 E 5 ITEMS a", with(func(o *insertion) { o.Expansion, o.items = 5, 5 }), ""},
		{"E 5 E 0 ITEMS a", with(func(o *insertion) { o.Expansion, o.NonScaling, o.items = 0, true, 5 }), ""},
		{"SEED " + seed + " TIGHTENING 0.5", with(func(o *insertion) {
			o.hasher = umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(0xd757588fa7a6d68f, 0xecfebf3390fe1cba)}
			o.items = 4
		}), ""},
		{"VALIDATESCALETO 1000 ITEMS a", with(func(o *insertion) { o.scaleTo, o.items = 1000, 3 }), ""},
		{args: "ITEMS", problem: insertArity},
		{args: "CAPACITY 10", problem: insertArity},
		{args: "NOCREATE CAPACITY", problem: insertArity},
		{args: "FOO", problem: unknownArgument},
		{args: "S " + seed + " ITEMS a", problem: unknownArgument},
		{args: "SEED short ITEMS a", problem: invalidSeed},
		{args: "TIGHTENING x ITEMS a", problem: badTightening},
		{args: "TIGHTENING 1 ITEMS a", problem: tighteningRange},
		{args: "TIGHTENING 0.25 ITEMS a", problem: otherTightening},
		{args: "VALIDATESCALETO x ITEMS a", problem: badCapacity},
		{args: "NONSCALING VALIDATESCALETO 5 ITEMS a", problem: scaleNonScaling},
		{args: "ERROR 1e-300 EXPANSION 1 VALIDATESCALETO 100000 ITEMS a", problem: scaleDegrades},
		{args: "ERROR nan ITEMS a", problem: insertErrorRate},
		{args: "CAPACITY 1073741825 ITEMS a", problem: insertCapacity},
		{args: "EXPANSION 32769 ITEMS a", problem: insertExpansion},
	} {
		got, problem := insertOptions(words(c.args), defaults, redisbloom.RedisHasher)
		if problem != c.problem || problem == "" && got != c.want {
			t.Errorf("%s:\n %+v, %q, want\n %+v, %q", c.args, got, problem, c.want, c.problem)
		}
	}
}

func TestSettings(t *testing.T) {
	m := New(nil, Options{})
	for _, c := range [][3]string{
		{"bf-initial-size", "1000", ""},
		{"BF-ERROR-RATE", "0.3", ""},
		{"bf-expansion-factor", "0", ""},
		{"bf-initial-size", "0", "Value for `bf-initial-size` must be in the range [1, 1073741824]"},
		{"bf-initial-size", "x", "Value for `bf-initial-size` must be in the range [1, 1073741824]"},
		{"bf-expansion-factor", "32769", "Value for `bf-expansion-factor` must be in the range [0, 32768]"},
		{"bf-error-rate", "1", "Value for `bf-error-rate` must be in the range (0.000000, 1.000000)"},
	} {
		known, err := m.SetConfig(c[0], c[1])
		if !known || (err == nil) != (c[2] == "") || err != nil && err.Error() != c[2] {
			t.Errorf("%s %s: %v, %v, want %s", c[0], c[1], known, err, c[2])
		}
	}
	got := m.Config("bf-*")
	want := [][2]string{{"bf-error-rate", "0.25"}, {"bf-initial-size", "1000"}, {"bf-expansion-factor", "0"}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
	for _, name := range []string{"maxmemory", "cf-bucket-size"} {
		if known, err := m.SetConfig(name, "1"); known || err != nil {
			t.Errorf("%s: %v, %v, want one that isn't known", name, known, err)
		}
	}
	if got := m.settings.Load().reserve(); !got.NonScaling || got.Capacity != 1000 || got.ErrorRate != 0.25 {
		t.Errorf("new filters are %+v", got)
	}
}
