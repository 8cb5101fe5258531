package delta_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// FuzzApply applies possible deltas to one state. In addition to the seeds in testdata it begins with
// deltas that have every element of the format.
func FuzzApply(f *testing.F) {
	base, result := revised(f)
	for _, b := range fuzzDeltas(f, base, result) {
		f.Add(b)
	}
	before := base.Clone()
	f.Fuzz(func(t *testing.T, b []byte) {
		applyAnyWay(t, base, b)
		if len(b) > 4 { // the fuzzer doesn't find checksums
			applyAnyWay(t, base, wiretest.Resum(b))
		}
		if s, err := (delta.Decoder{Limits: wire.Limits{Bytes: 1 << 20}}).ApplyChange(base, b); err == nil && s.Check() != nil {
			t.Fatal("the result of a change is not a state")
		}
		if !wiretest.Equal(base, before) {
			t.Fatal("the base changed")
		}
	})
}

// TestApplyVectors does the same with the vectors of the specification and their bases.
func TestApplyVectors(t *testing.T) {
	for _, parts := range wiretest.Vectors(t, "../../spec/vectors/deltas") {
		base, err := wire.Parse(parts[0], wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		applyAnyWay(t, base, parts[1])
	}
}

// fuzzDeltas returns deltas from one state to several.
func fuzzDeltas(t testing.TB, base, result umbel.State) [][]byte {
	few := base.Clone()
	few.Arrays[4].Words[5] ^= 1
	listed := base.Clone()
	for i := range 30 {
		listed.Arrays[4].Words[i*200] ^= 3 << (2 * i)
	}
	folded := base.Clone()
	folded.Arrays = []cells.Array{fold(t, base.Arrays[6], 4), unfold(t, base.Arrays[5], 3)}
	folded.Arrays[1].Words[2] = 0
	kind := umbel.State{Kind: base.Kind, Hasher: base.Hasher}
	var all [][]byte
	for _, s := range []umbel.State{base, result, few, listed, folded, kind} {
		all = append(all, mustDelta(t, base, s))
	}
	return all
}

// applyAnyWay checks that Apply accepts b only if the result has the ID in b, and that the
// result is a valid state if IDs are not checked.
func applyAnyWay(t *testing.T, base umbel.State, b []byte) {
	l := wire.Limits{Bytes: 1 << 22}
	s, err := delta.Apply(base, b, l)
	if err != nil && !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) && !errors.Is(err, umbel.ErrMismatch) {
		t.Fatalf("error without sentinel: %v", err)
	}
	info, inspectErr := delta.Inspect(b)
	if err == nil && (inspectErr != nil || !info.Result.Begins(hashtree.Identify(s)) || s.Kind != info.Kind || s.Bytes() != cmp.Or(info.Bytes, s.Bytes())) {
		t.Fatalf("another state than %+v, %v", info, inspectErr)
	}
	if inspectErr != nil {
		return
	}
	l.Workers = 2
	s, err = delta.Decoder{Base: hashtree.Identify(base), Unverified: true, Limits: l}.Apply(base, b)
	if err != nil {
		return
	}
	again, err := wire.Append(nil, s)
	if err != nil {
		t.Fatalf("what was made can't be written: %v", err)
	}
	if back, err := wire.Parse(again, l); err != nil || !wiretest.Equal(back, s) {
		t.Fatalf("what was written is another state: %v", err)
	}
	if d, err := delta.Append(nil, base, s); err != nil {
		t.Fatalf("no delta to what was made: %v", err)
	} else if back, err := delta.Apply(base, d, l); err != nil || !wiretest.Equal(back, s) {
		t.Fatalf("the delta to what was made: %v", err)
	}
}
