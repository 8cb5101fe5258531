package wire_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// FuzzApply applies what may be deltas of one state. Besides the seeds in testdata it
// begins with deltas in which there is everything.
func FuzzApply(f *testing.F) {
	old, new := revised(f)
	for _, b := range fuzzDeltas(f, old, new) {
		f.Add(b)
	}
	before := old.Clone()
	f.Fuzz(func(t *testing.T, b []byte) {
		applyAnyWay(t, old, b)
		if len(b) > 4 { // the fuzzer doesn't find checksums
			applyAnyWay(t, old, mended(b))
		}
		if !equal(old, before) {
			t.Fatal("the old state changed")
		}
	})
}

// The same for the vectors of the specification, by bases of their own.
func TestApplyVectors(t *testing.T) {
	for _, parts := range vectors(t, "deltas") {
		base, err := wire.Parse(parts[0], wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		applyAnyWay(t, base, parts[1])
	}
}

// fuzzDeltas returns deltas from one state to several.
func fuzzDeltas(t testing.TB, old, new umbel.State) [][]byte {
	few := old.Clone()
	few.Arrays[4].Words[5] ^= 1
	folded := old.Clone()
	folded.Arrays = []cells.Array{fold(t, old.Arrays[6], 4), unfold(t, old.Arrays[5], 3)}
	folded.Arrays[1].Words[2] = 0
	kind := umbel.State{Kind: old.Kind, Hasher: old.Hasher}
	var all [][]byte
	for _, s := range []umbel.State{old, new, few, folded, kind} {
		all = append(all, mustDelta(t, old, s))
	}
	return all
}

// applyAnyWay checks that Apply takes b only if it makes the state whose ID it has, and
// that what it makes where nobody looks at IDs is a state all the same.
func applyAnyWay(t *testing.T, old umbel.State, b []byte) {
	l := wire.Limits{Bytes: 1 << 22, States: 100}
	s, err := wire.Apply(old, b, l)
	if err != nil && !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) && !errors.Is(err, umbel.ErrMismatch) {
		t.Fatalf("error without sentinel: %v", err)
	}
	info, inspectErr := wire.InspectDelta(b)
	if err == nil && (inspectErr != nil || wire.Identify(s) != info.Result || s.Kind != info.Kind || s.Bytes() != info.Bytes) {
		t.Fatalf("another state than %+v, %v", info, inspectErr)
	}
	if inspectErr != nil {
		return
	}
	l.Workers = 2
	s, err = wire.Patcher{Base: info.Base, Unverified: true, Limits: l}.Apply(old, b)
	if err != nil {
		return
	}
	again, err := wire.Append(nil, s)
	if err != nil {
		t.Fatalf("what was made can't be written: %v", err)
	}
	if back, err := wire.Parse(again, l); err != nil || !equal(back, s) {
		t.Fatalf("what was written is another state: %v", err)
	}
	if d, err := wire.Delta(nil, old, s); err != nil {
		t.Fatalf("no delta to what was made: %v", err)
	} else if back, err := wire.Apply(old, d, l); err != nil || !equal(back, s) {
		t.Fatalf("the delta to what was made: %v", err)
	}
}
