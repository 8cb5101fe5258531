package spec

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
)

func kind(t *testing.T, name string) umbel.Kind {
	t.Helper()
	v, err := filter.All.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// want is the spec that every notation gives.
var want = Spec{
	Goal: umbel.Goal{Keys: 1000, FPRate: 0.01, Bytes: 4096}, Hash: "siphash", Seed: "0102",
	Params: umbel.Params{{Name: "growth", Value: umbel.Uint(2)}, {Name: "tightening", Value: umbel.Float(0.5)}},
}

func TestNotations(t *testing.T) {
	v := kind(t, "scalable")
	var args [][]byte
	for _, w := range strings.Fields("keys 1k RATE 1% bytes 4KiB HASH SipHash seed 0102 GROWTH 2 tightening 0.5") {
		args = append(args, []byte(w))
	}
	words, err := ParseWords(v, args)
	if err != nil || !reflect.DeepEqual(words, want) {
		t.Errorf("words: %+v, %v, want %+v", words, err, want)
	}

	var in api.FilterSpec
	if err := json.Unmarshal([]byte(`{"keys":1e3,"fpRate":0.01,"bytes":4096,"hash":"siphash","seed":"0102","params":{"tightening":0.5,"growth":2}}`), &in); err != nil {
		t.Fatal(err)
	}
	fromJSON, err := FromJSON(v, in)
	if err != nil || !sameParams(fromJSON, want) {
		t.Errorf("JSON: %+v, %v, want %+v", fromJSON, err, want)
	}
	if again, err := FromJSON(v, want.JSON("scalable")); err != nil || !sameParams(again, want) {
		t.Errorf("JSON and back: %+v, %v, want %+v", again, err, want)
	}

	var f Flags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.AddGoal(flags)
	f.AddKind(flags, filter.All)
	f.AddParams(flags, filter.All)
	if f.Given() {
		t.Error("flags are given before they are parsed")
	}
	if err := flags.Parse([]string{"-n", "1k", "--fpr", "1%", "--bytes=4KiB", "--hash", "siphash", "--seed", "0102", "--growth=2", "--tightening=0.5"}); err != nil {
		t.Fatal(err)
	}
	if got := f.Spec(); !f.Given() || !sameParams(got, want) || f.Kind != filter.All[0].Name {
		t.Errorf("flags: %+v of kind %s, want %+v", got, f.Kind, want)
	}
}

// TestDurations: a parameter in ticks may be a duration, and then ticks are seconds since 1970.
func TestDurations(t *testing.T) {
	for text, want := range map[string]struct {
		value uint64
		tick  time.Duration
	}{
		"3600": {3600, 0}, "1h": {3600, time.Second}, "90s": {90, time.Second}, "1500ms": {2, time.Second}, "1k": {1000, 0},
	} {
		var f Flags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.AddParams(flags, filter.All)
		if err := flags.Parse([]string{"--window", text}); err != nil {
			t.Fatal(err)
		}
		if s := f.Spec(); s.Params.Uint("window") != want.value || s.Tick != want.tick {
			t.Errorf("%s: %d ticks of %v, want %d of %v", text, s.Params.Uint("window"), s.Tick, want.value, want.tick)
		}
	}
	for _, arg := range []string{"--window=10ms", "--window=-1h", "--l=1h"} {
		var f Flags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.AddParams(flags, filter.All)
		if err := flags.Parse([]string{arg}); err == nil {
			t.Errorf("%s is accepted: %+v", arg, f.Spec())
		}
	}
}

// sameParams compares two specs whose parameters may have another order.
func sameParams(a, b Spec) bool {
	byName := func(x, y umbel.Param) int { return strings.Compare(x.Name, y.Name) }
	slices.SortFunc(a.Params, byName)
	return reflect.DeepEqual(a, b)
}

func TestRefuses(t *testing.T) {
	v := kind(t, "scalable")
	for _, line := range []string{"KEYS", "KEYS x", "RATE 200%", "m 5", "growth x", "tightening x", "NX"} {
		var args [][]byte
		for _, w := range strings.Fields(line) {
			args = append(args, []byte(w))
		}
		if s, err := ParseWords(v, args); err == nil {
			t.Errorf("%s: %+v", line, s)
		}
	}
	for _, s := range []Spec{
		{Hash: "sha"}, {Seed: "xy"}, {Hash: "md5", Seed: "01"}, {Params: umbel.Params{{Name: "nothing"}}},
	} {
		if _, err := s.Resolve(v, umbel.Hasher{}); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	s, err := FromJSON(v, api.FilterSpec{Params: map[string]json.Number{"m": "1"}})
	if err == nil {
		_, err = s.Resolve(v, umbel.Hasher{})
	}
	if !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a parameter of another kind: %v", err)
	}
}

func TestHasher(t *testing.T) {
	secret := umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(7, 0)}
	sip := umbel.Hasher{Alg: umbel.SipHash}
	for _, c := range []struct {
		name, kind string
		spec       Spec
		server     umbel.Hasher
		want       umbel.Hasher // sip: any seed but none and that of the server
	}{
		{"default", "bloom", Spec{}, umbel.Hasher{}, umbel.Hasher{}},
		{"the server's", "bloom", Spec{}, secret, secret},
		{"the server's by name", "bloom", Spec{Hash: "siphash"}, secret, secret},
		{"another one", "bloom", Spec{Hash: "xxh3"}, secret, umbel.Hasher{}},
		{"own seed", "bloom", Spec{Seed: "01"}, secret, umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)}},
		{"random seed", "bloom", Spec{Hash: "siphash"}, umbel.Hasher{}, sip},
		{"random seed of the server's hash", "bloom", Spec{}, sip, sip},
		{"Redis", "redisbloom", Spec{}, umbel.Hasher{}, umbel.Hasher{Alg: umbel.Murmur64A}},
		{"Redis, by name", "redisbloom", Spec{Hash: "xxh3"}, umbel.Hasher{}, umbel.Hasher{}},
		{"Redis, untrusted", "redisbloom", Spec{}, secret, secret},
	} {
		g, err := c.spec.Resolve(kind(t, c.kind), c.server)
		if c.want == sip && g.Hasher.Alg == umbel.SipHash && g.Hasher.Seed != (umbel.Seed{}) && g.Hasher != secret {
			c.want = g.Hasher
		}
		if err != nil || g.Hasher != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, g.Hasher, err, c.want)
		}
	}
}

func TestDefaultRate(t *testing.T) {
	v := kind(t, "bloom")
	for _, c := range []struct {
		goal   umbel.Goal
		params umbel.Params
		want   float64
	}{
		{umbel.Goal{Keys: 1000}, nil, DefaultRate},
		{umbel.Goal{Keys: 1000, FPRate: 0.5}, nil, 0.5},
		{umbel.Goal{Keys: 1000, Bytes: 1000}, nil, 0},
		{umbel.Goal{}, nil, 0},
		{umbel.Goal{Keys: 1000}, umbel.Params{{Name: "m", Value: umbel.Uint(640)}, {Name: "k", Value: umbel.Uint(3)}}, 0},
	} {
		if got := Complete(v, c.goal, c.params).FPRate; got != c.want {
			t.Errorf("%+v, %v: rate %v, want %v", c.goal, c.params, got, c.want)
		}
	}
}

// A word of a spec is not also a parameter of a kind.
func TestWordsAndParameters(t *testing.T) {
	for _, v := range filter.All {
		for _, p := range v.Params {
			if slices.Contains(append(words, "NX"), strings.ToUpper(p.Name)) {
				t.Errorf("%s is a word of UM.MAKE and a parameter of %s", p.Name, v.Name)
			}
		}
	}
}

// Memory for a rate below LeastRate is room for more keys, unless a rate is given. Kinds that do not use all
// of it keep their plan.
func TestLeastRate(t *testing.T) {
	goal := umbel.Goal{Keys: 2000, Bytes: 64 << 10}
	for _, v := range filter.All {
		before, err := v.Plan(goal, nil)
		if err != nil {
			continue
		}
		after, err := v.Plan(Complete(v, goal, nil), nil)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		switch lower := before.FPRate < LeastRate && before.Bytes > goal.Bytes/2; {
		case !lower && after != before:
			t.Errorf("%s: plan %+v, want %+v", v.Name, after, before)
		case lower && (after.Keys <= goal.Keys || after.FPRate > LeastRate || after.K >= before.K && before.K > 40 || after.Bytes > goal.Bytes):
			t.Errorf("%s: plan %+v instead of %+v, want more keys at %v", v.Name, after, before, LeastRate)
		}
	}
	v := kind(t, "bloom")
	for _, g := range []umbel.Goal{
		{Keys: 2000, Bytes: 64 << 10, FPRate: 1e-30}, {Bytes: 64 << 10, FPRate: 1e-30}, {Keys: 20_000, Bytes: 64 << 10}, {Keys: 2000, Bytes: 8},
	} {
		if got := Complete(v, g, nil); got != g {
			t.Errorf("%+v becomes %+v", g, got)
		}
	}
}
