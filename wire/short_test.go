package wire_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
	"pgregory.net/rapid"
)

// noted is a state of a kind with a number, with notes.
func noted(t testing.TB) umbel.State {
	s := umbel.State{
		Kind:   "bloom",
		Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}, {Name: "group", Value: umbel.Uint(0)}},
		Arrays: []cells.Array{random(t, 500, 1, 0.1)},
	}
	s.Planned, s.Tick = umbel.Planned{Keys: 1000, FPRate: 0.01}, 60e9
	return s
}

// kindRows returns the kinds with a number and their parameters.
func kindRows(t testing.TB) (kinds []string, params map[string]umbel.Params) {
	b, err := os.ReadFile("../spec/kinds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	params = map[string]umbel.Params{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		fields := strings.Split(line, "\t")
		kinds = append(kinds, fields[1])
		for _, name := range strings.Fields(fields[2]) {
			name, float := strings.CutSuffix(name, ":float")
			value := umbel.Uint(0)
			if float {
				value = umbel.Float(0)
			}
			params[fields[1]] = append(params[fields[1]], umbel.Param{Name: name, Value: value})
		}
	}
	return kinds, params
}

// drawKnown gives a state and its parts kinds with a number, most of them with the parameters of their rows first.
func drawKnown(t *rapid.T, s umbel.State, kinds []string, params map[string]umbel.Params) umbel.State {
	s.Kind = rapid.SampledFrom(kinds).Draw(t, "known kind")
	var known umbel.Params
	for _, p := range params[s.Kind] {
		v := umbel.Uint(rapid.Uint64().Draw(t, "value"))
		if p.Value.IsFloat() != (rapid.IntRange(0, 9).Draw(t, "another type") == 0) {
			v = umbel.Float(rapid.Float64Range(-1e300, 1e300).Draw(t, "rate"))
		}
		known = append(known, umbel.Param{Name: p.Name, Value: v})
	}
	for _, p := range s.Params {
		if _, twice := params[s.Kind].Get(p.Name); !twice {
			known = append(known, p)
		}
	}
	if len(known) > 0 && rapid.IntRange(0, 9).Draw(t, "one fewer") == 0 {
		known = known[1:]
	}
	s.Params = known
	for i, p := range s.Parts {
		if s.Parts[i] = drawKnown(t, p, kinds, params); rapid.Bool().Draw(t, "the hasher of the whole") {
			s.Parts[i].Hasher = s.Hasher
		}
	}
	return s
}

// Any state of any kind is read as it was packed, with its notes, from as many bytes as HeadBytes and the blocks have, and
// from no more than a container of version 1 or 2 would have.
func TestShortStates(t *testing.T) {
	kinds, params := kindRows(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := drawKnown(rt, wiretest.DrawState(rt, umbel.MaxDepth), kinds, params)
		if rapid.Bool().Draw(rt, "is planned") {
			s.Planned = umbel.Planned{Keys: rapid.Uint64Min(1).Draw(rt, "keys"), FPRate: rapid.Float64Range(1e-300, 0.999).Draw(rt, "rate")}
		}
		if rapid.Bool().Draw(rt, "has ticks") {
			s.Tick = rapid.Uint64Range(1, 1<<63-1).Draw(rt, "tick")
		}
		var stats wire.PackStats
		b, err := wire.Packer{Stats: &stats}.Append(nil, s)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := wire.Parse(b, wire.Limits{})
		if err != nil || !wiretest.Equal(got, s) || hashtree.Identify(got) != hashtree.Identify(s) {
			rt.Fatalf("Parse: %v", err)
		}
		blocks := stats.Raw.Bytes + stats.Empty.Bytes + stats.Full.Bytes + stats.Arithmetic.Bytes + stats.Positions.Bytes + stats.Rare.Bytes
		if head := wire.HeadBytes(s); uint64(len(b)) != head+blocks {
			rt.Fatalf("%d bytes, of which the head has %d, and blocks %d", len(b), head, blocks)
		}
		raw := s.Bytes()
		for _, a := range s.AllArrays() {
			raw += (a.Bytes() + 1<<16 - 1) >> 16
		}
		if long := wire.Size(s) - raw; wire.HeadBytes(s) > long {
			rt.Fatalf("a head of %d bytes, in version 1 %d", wire.HeadBytes(s), long)
		}
	})
}

const (
	bloom     = "\x01\x03\x00" // k 3, group 0
	flagged   = 1 << 7
	hasHasher = 1
	hasParams = 2
	hasWidths = 4
	hasParts  = 8
	planned   = 16
	ticks     = 32
)

func TestShortCorrupt(t *testing.T) {
	good := wiretest.Short(bloom, uint64(100), 1)
	if s, err := wire.Parse(good, wire.Limits{}); err != nil || len(good) != 3+1+2+1+1+4 || s.Arrays[0].Len != 100 {
		t.Fatalf("a filter of 100 empty cells: %d bytes, %v", len(good), err)
	}
	state := []any{bloom, uint64(100), 1}
	for name, b := range map[string][]byte{
		"kind without name":       wiretest.Short(0, 0),
		"kind in capitals":        wiretest.Short(0, "\x01X"),
		"seed of 17 bytes":        wiretest.Short(flagged|4, hasHasher, 1, 17, strings.Repeat("\x01", 17), uint64(0)),
		"seed that ends with 0":   wiretest.Short(flagged|4, hasHasher, 1, 2, "\x01\x00", uint64(0)),
		"unknown hash":            wiretest.Short(flagged|4, hasHasher, 100, 0, uint64(0)),
		"seed where none is":      wiretest.Short(flagged|4, hasHasher, int(umbel.MD5), 1, "\x01", uint64(0)),
		"param in 10 bytes and 2": wiretest.Short("\x01", strings.Repeat("\xff", 9), "\x02", "\x00", uint64(0)),
		"param in its long form":  wiretest.Short("\x01", "\x83\x00", "\x00", uint64(0)),
		"param twice":             wiretest.Short(flagged|1, hasParams, "\x03\x00", 1, "\x01k", 0, uint64(4), uint64(0)),
		"param of type 2":         wiretest.Short(flagged|1, hasParams, "\x03\x00", 1, "\x01x", 2, uint64(4), uint64(0)),
		"float of 10^-23":         wiretest.Short(15, "\x00\x00\x01\x00", uint64(32+23), uint64(0), uint64(0)),
		"float of 2^53":           wiretest.Short(15, "\x00\x00\x01\x00", uint64(32<<53), uint64(0), uint64(0)),
		"float that is infinite":  wiretest.Short(15, "\x00\x00\x01\x00", "\x1f\x00\x00\x00\x00\x00\x00\xf0\x7f", uint64(0), uint64(0)),
		"width 3":                 wiretest.Short(flagged|4, hasWidths, 1, 3, uint64(0)),
		"2^59 cells too many":     wiretest.Short(flagged|4, hasWidths, 1, 64, uint64(1<<60)),
		"fewer arrays":            wiretest.Short(flagged|4, hasWidths, 2, 1, uint64(0)),
		"a part is missing":       wiretest.Short(flagged|13, hasParts, 2, 13),
		"a part with notes":       wiretest.Short(flagged|13, hasParts, 1, flagged|4, ticks, uint64(0), uint64(1)),
		"planned for no keys":     wiretest.Short(append([]any{flagged | 4, planned, uint64(0)}, uint64(0), uint64(34))...),
		"planned for nothing":     wiretest.Short(flagged|4, planned, uint64(0), uint64(0), uint64(0)),
		"planned for a rate of 1": wiretest.Short(flagged|4, planned, uint64(0), uint64(7), uint64(32)),
		"tick of 0":               wiretest.Short(flagged|4, ticks, uint64(0), uint64(0)),
		"tick of 2^63":            wiretest.Short(flagged|4, ticks, uint64(0), uint64(1<<63)),
		"too deep":                wiretest.Short(strings.Repeat(string([]byte{flagged | 13, hasParts, 1}), umbel.MaxDepth), 13),
		"bytes follow":            wiretest.Short(append(state, 0)...),
		"notes without a flag":    wiretest.Short(append(state, uint64(7), uint64(34))...),
	} {
		refused(t, name, b, wire.Limits{}, umbel.ErrCorrupt)
	}
	refused(t, "a number of a later version", wiretest.Short(127, uint64(0)), wire.Limits{}, errors.ErrUnsupported)
	refused(t, "a flag of a later version", wiretest.Short(flagged|4, 64, uint64(0)), wire.Limits{}, errors.ErrUnsupported)
	later := bytes.Clone(good)
	later[2]++
	refused(t, "version 4", later, wire.Limits{}, errors.ErrUnsupported)
	refused(t, "a short delta", wiretest.Sum([]byte("\x89d\x02....")), wire.Limits{}, umbel.ErrCorrupt)
	if _, err := wire.Parse(wiretest.Short(bloom, uint64(1<<43), 1), wire.Limits{}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("1 TiB: %v", err)
	}
}

// A small message with many huge arrays or parts allocates little, with any limits.
func TestShortHostileLengths(t *testing.T) {
	rest := strings.Repeat("\x00", 1000)
	for name, c := range map[string]struct {
		b    []byte
		most uint64
	}{
		"1 TiB":             {wiretest.Short(bloom, uint64(1<<43), rest), 2 << 20},
		"2^56 bytes":        {wiretest.Short(bloom, uint64(1<<59), rest), 2 << 20},
		"255 arrays":        {wiretest.Short(flagged|4, hasWidths, 255, rest), 64 << 10},
		"2^64-1 parts":      {wiretest.Short(flagged|13, hasParts, ^uint64(0), strings.Repeat("\x0d", 10_000)), 4 << 20}, // 4096 of them are read
		"255 params":        {wiretest.Short(flagged|13, hasParams, 255, rest), 64 << 10},
		"a seed of a tebib": {wiretest.Short(flagged|4, hasHasher, 1, 255, rest), 16 << 10},
	} {
		for way, read := range map[string]func() error{
			"Parse": func() error { _, err := wire.Parse(c.b, wire.NoLimits); return err },
			"Read":  func() error { _, err := wire.Read(bytes.NewBuffer(c.b), wire.NoLimits); return err },
		} {
			var err error
			if n := wiretest.Allocated(func() { err = read() }); n > c.most {
				t.Errorf("%s: %s took %d bytes, want at most %d", name, way, n, c.most)
			}
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
}

// A state that the short form would lengthen, since all numbers are large, is packed in version 1.
func TestShortIsShorter(t *testing.T) {
	s := umbel.State{Kind: "x", Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(^uint64(0), ^uint64(0))}}
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(^uint64(0))})
	}
	if b := mustPack(t, s); uint64(len(b)) != wire.Size(s) || uint64(len(b)) != wire.HeadBytes(s) {
		t.Errorf("%d bytes, in version 1 %d, HeadBytes says %d", len(b), wire.Size(s), wire.HeadBytes(s))
	}
}

// overEntropy is the bound of the next test, in bytes.
const overEntropy = 24

// TestShortToTheEntropy: a packed filter of one array of bits with the default hasher takes at most 24 bytes more than
// log2 C(m, x) bits, which every code for x ones of m cells takes on average.
func TestShortToTheEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 5))
	for _, m := range []uint64{1000, 10_000, 100_000, 500_000} {
		for _, p := range []float64{0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5} {
			a := fixture.Must(cells.New(m, 1))
			for i := range m {
				if rng.Float64() < p {
					a.SetBit(i)
				}
			}
			s := umbel.State{Kind: "bloom", Arrays: []cells.Array{a},
				Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}, {Name: "group", Value: umbel.Uint(6)}}}
			b := mustPack(t, s)
			over := float64(len(b)) - choices(m, a.Nonzero())/8
			t.Logf("m %d, p %g: %d bytes, %.1f over the entropy", m, p, len(b), over)
			if over > overEntropy {
				t.Errorf("m %d, p %g: %d bytes are %.1f over the entropy, want at most %d", m, p, len(b), over, overEntropy)
			}
		}
	}
}

// choices returns log2 C(m, x).
func choices(m, x uint64) float64 {
	factorial := func(n uint64) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v / math.Ln2
	}
	return factorial(m) - factorial(x) - factorial(m-x)
}
