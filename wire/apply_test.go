package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// revised is a state that comes of sample(t) in all ways there are, with every coding
// of blocks.
func revised(t testing.TB) (old, new umbel.State) {
	old = sample(t)
	old.Arrays = append(old.Arrays, array(t, 1<<19+64, 1, noise), array(t, 128, 1, noise), array(t, 256, 1, noise))
	new = old.Clone()
	new.Params[0].Value = umbel.Uint(8)
	new.Arrays[0] = array(t, 70, 1, ones)
	new.Arrays[1].Words[0] = 12345
	new.Arrays[4].Words[8192] ^= 5
	new.Arrays[5] = unfold(t, old.Arrays[5], 2)
	new.Arrays[5].Words[0] &^= new.Arrays[5].Words[1] & noise(3)
	new.Arrays[6] = fold(t, old.Arrays[6], 2)
	new.Parts = append([]umbel.State{{Kind: "new"}}, new.Parts...)
	return old, new
}

func fold(t testing.TB, a cells.Array, r uint64) cells.Array {
	f, err := a.Fold(r, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func unfold(t testing.TB, a cells.Array, u uint64) cells.Array {
	f, err := a.Unfold(u, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantRefused fails unless Apply refuses a delta and leaves the old state as it was.
func wantRefused(t *testing.T, what string, old umbel.State, delta []byte, want ...error) {
	t.Helper()
	before := old.Clone()
	s, err := wire.Apply(old, delta, wire.Limits{Bytes: 1 << 20})
	is := false
	for _, w := range want {
		is = is || errors.Is(err, w)
	}
	if !is || !strings.HasPrefix(err.Error(), "wire: ") {
		t.Fatalf("%s: %v, want one of %v", what, err, want)
	}
	if s.Kind != "" {
		t.Fatalf("%s: a state with the error", what)
	}
	if !equal(old, before) {
		t.Fatalf("%s: the old state changed", what)
	}
}

// mended returns a delta with the checksum that it has to have.
func mended(b []byte) []byte { return sum(bytes.Clone(b[:len(b)-4])) }

func TestApplyDamaged(t *testing.T) {
	old, new := revised(t)
	good := mustDelta(t, old, new)
	for n := range len(good) {
		wantRefused(t, "cut off", old, good[:n:n], umbel.ErrCorrupt)
		if n > 8 && n != len(good)-4 {
			wantRefused(t, "cut off, and mended", old, sum(bytes.Clone(good[:n])), umbel.ErrCorrupt, umbel.ErrLimit)
		}
	}
	wantRefused(t, "a byte behind it", old, append(bytes.Clone(good), 0), umbel.ErrCorrupt)
	wantRefused(t, "a byte behind it, and mended", old, sum(append(bytes.Clone(good[:len(good)-4]), 0)), umbel.ErrCorrupt)
	wantRefused(t, "twice", old, append(bytes.Clone(good), good...), umbel.ErrCorrupt)
	for i := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		wantRefused(t, "a bit flipped", old, bad, umbel.ErrCorrupt)
		// There may be other ways to tell the same.
		if s, err := wire.Apply(old, mended(bad), wire.Limits{}); err == nil && !equal(s, new) {
			t.Fatalf("bit %d flipped, and mended: another state", i)
		} else if err != nil {
			wantRefused(t, "a bit flipped, and mended", old, mended(bad), umbel.ErrCorrupt, umbel.ErrLimit, umbel.ErrMismatch)
		}
	}
}

func TestApplyMismatch(t *testing.T) {
	old, new := revised(t)
	third := new.Clone()
	third.Arrays[0].Words[0]++
	delta := mustDelta(t, old, new)
	base, result := wire.Identify(old).String()[:8], wire.Identify(new).String()[:8]
	for _, c := range []struct {
		name string
		s    umbel.State
		says []string
	}{
		{"replayed", new, []string{"already applied", base, result}},
		{"too early", third, []string{"ask for a snapshot", base, result, wire.Identify(third).String()[:8]}},
		{"another kind", umbel.State{Kind: "other"}, []string{"ask for a snapshot"}},
	} {
		wantRefused(t, c.name, c.s, delta, umbel.ErrMismatch)
		_, err := wire.Apply(c.s, delta, wire.Limits{})
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q in it", c.name, err, says)
			}
		}
	}
	wantRefused(t, "a state that is none", umbel.State{}, delta, umbel.ErrCorrupt)
	wantApplied(t, old, mustDelta(t, old, old), old)
}

// Who says that the state has an ID that it hasn't is told by the result.
func TestApplyWrongID(t *testing.T) {
	old, new := revised(t)
	delta := mustDelta(t, old, new)
	wrong := old.Clone()
	wrong.Arrays[4].Words[0]++
	p := wire.Patcher{Base: wire.Identify(old)}
	if _, err := p.Apply(wrong, delta); !errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), "promises") {
		t.Errorf("%v, want an error about what the delta promises", err)
	}
	p.Unverified = true
	if _, err := p.Apply(wrong, delta); err != nil {
		t.Errorf("unverified: %v", err)
	}
	lying, err := wire.Differ{Base: wire.Identify(new), Result: wire.Identify(old)}.Delta(nil, old, new)
	if err != nil {
		t.Fatal(err)
	}
	wantRefused(t, "IDs changed round", old, lying, umbel.ErrMismatch)
}

func TestApplyLimits(t *testing.T) {
	old, new := revised(t)
	delta := mustDelta(t, old, new)
	for name, l := range map[string]wire.Limits{
		"bytes":  {Bytes: new.Bytes() - 1},
		"states": {States: 4},
	} {
		if _, err := wire.Apply(old, delta, l); !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%s: %v, want %v", name, err, umbel.ErrLimit)
		}
	}
	if _, err := wire.Apply(old, delta, wire.Limits{Bytes: new.Bytes(), States: 5}); err != nil {
		t.Errorf("exactly the limits: %v", err)
	}
}

// deltaOf returns a delta of fields from a state to one that can't be found.
func deltaOf(old umbel.State, bytes uint64, fields ...any) []byte {
	base := wire.Identify(old)
	all := []any{string(base[:]), strings.Repeat("?", 32), bytes, string(rune(len(old.Kind))), old.Kind}
	b := sealed(append(all, fields...)...)
	copy(b, "\x89umdlt\n\x01")
	return mended(b)
}

func uvarint(n uint64) string { return string(binary.AppendUvarint(nil, n)) }

func TestApplyCorrupt(t *testing.T) {
	old := umbel.State{
		Kind: "x", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}, {Name: "rate", Value: umbel.Float(1)}},
		Arrays: []cells.Array{array(t, 1<<20, 1, noise), array(t, 64, 4, noise)},
	}
	const same = "\x01\x00" // plane 0 of the base
	for _, c := range []struct {
		name   string
		fields []any
		says   string
	}{
		{"nothing", nil, "cut off"},
		{"param beyond the last", []any{"\x01\x02", uint64(0), "\x00\x00"}, "parameter 2 of 2"},
		{"param not a number", []any{"\x01\x01", uint64(0x7ff8 << 48), "\x00\x00"}, "finite"},
		{"form 5", []any{"\x00\x01\x05\x00"}, "form 5"},
		{"plane beyond the last", []any{"\x00\x01\x01\x02"}, "plane 2 of the base"},
		{"part of nothing", []any{"\x00\x00\x01\x01"}, "part 0 of the base"},
		{"too many parts", []any{"\x00\x00", uvarint(1 << 16)}, "65536 parts"},
		{"a fold by nothing", []any{"\x00\x01\x02\x00\x00\x40"}, "factor 0"},
		{"groups of nothing", []any{"\x00\x01\x02\x00\x02\x00"}, "groups of 0"},
		{"a fold that doesn't go up", []any{"\x00\x01\x02\x00\x03\x40"}, "don't fold by 3"},
		{"an unfold that overflows", []any{"\x00\x01\x03\x00", uvarint(1 << 63), "\x40"}, "unfolded by"},
		{"an unfold too large", []any{"\x00\x01\x03\x00", uvarint(1 << 40), "\x40"}, "2^56"},
		{"a refinement by 1", []any{"\x00\x01\x04\x00\x01\x40"}, "refined by 1"},
		{"a refinement by a large prime", []any{"\x00\x01\x04\x00\x43\x40"}, "refined by 67"},
		{"a refinement of counters", []any{"\x00\x01\x04\x01\x02\x40"}, "cells of 4 bits"},
		{"an empty refinement", []any{"\x00\x01\x04\x00\x02\x40", "\x00\x00\x00\x00\x00"}, "of the fold"},
		{"a run of one", []any{"\x00\x01", same, "\x81\x01"}, "want 2 to 2"},
		{"a run too long", []any{"\x00\x01", same, "\x81\x03"}, "want 2 to 2"},
		{"a run where it unfolds", []any{"\x00\x01\x03\x00\x02\x40\x81\x04", "\x00\x00"}, "want 2 to 4"},
		{"coding 134", []any{"\x00\x01", same, "\x86"}, "coding 134"},
		{"an empty payload", []any{"\x00\x01", same, "\x82\x00\x80\x00"}, "block 0"},
		{"a payload too long", []any{"\x00\x01", same, "\x82", uvarint(1 << 17)}, "payload of"},
		{"flips beyond the end", []any{"\x00\x01", same, "\x84\x02\x01\x3f", "\x80\x00"}, "block 0"},
		{"another size than the head says", []any{"\x00\x00\x00"}, "the head says 262144"},
		{"another result", []any{"\x00\x02", same, "\x81\x02\x01\x00\x81\x02", "\x00"}, "promises 3f3f3f3f"},
	} {
		b := deltaOf(old, 1<<18, c.fields...)
		wantRefused(t, c.name, old, b, umbel.ErrCorrupt)
		if _, err := wire.Apply(old, b, wire.Limits{Bytes: 1 << 20}); !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.says)
		}
	}
}

// What a later version may have written says so.
func TestApplyLaterVersion(t *testing.T) {
	old, new := revised(t)
	version := mustDelta(t, old, new)
	version[7] = 2
	form := deltaOf(old, 0, "\x00\x01\x05\x00")
	for name, b := range map[string][]byte{"version": version, "form": form} {
		if _, err := wire.Apply(old, b, wire.Limits{}); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", name, err, errors.ErrUnsupported)
		}
	}
	if _, err := wire.Parse(version, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), "this is a delta") {
		t.Errorf("Parse of a delta: %v", err)
	}
	if _, err := wire.Apply(old, mustAppend(t, old), wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), "no delta") {
		t.Errorf("a container: %v", err)
	}
}

// A small delta that claims much costs little, whatever the limits.
func TestApplyBombs(t *testing.T) {
	old := umbel.State{Kind: "x", Arrays: []cells.Array{array(t, 1<<16, 1, noise)}}
	rest := strings.Repeat("\x80", 500)
	for _, c := range []struct {
		name   string
		fields []any
		l      wire.Limits
	}{
		{"1 TiB, unfolded", []any{"\x00\x01\x03\x00", uvarint(1 << 27), "\x40", rest}, wire.NoLimits},
		{"1 TiB, new", []any{"\x00\x01\x00\x01", uint64(1 << 43), rest}, wire.NoLimits},
		{"32 MiB, refined", []any{"\x00\x01\x04\x00", uvarint(4096), "\x40", rest}, wire.NoLimits},
		{"4 GiB of copies, default limits", []any{"\x00\xff", strings.Repeat("\x01\x00\x80", 255), "\x00"}, wire.Limits{Bytes: 1 << 16}},
	} {
		b := deltaOf(old, 1<<13, c.fields...)
		var err error
		if n := allocated(func() { _, err = wire.Apply(old, b, c.l) }); n > 256<<10 {
			t.Errorf("%s: took %d bytes", c.name, n)
		}
		if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	claims := deltaOf(old, 1<<40, "\x00\x00\x00")
	if _, err := wire.Apply(old, claims, wire.Limits{}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("a head that claims 1 TiB: %v", err)
	}
}

func TestInspectDelta(t *testing.T) {
	old, new := revised(t)
	info, err := wire.InspectDelta(mustDelta(t, old, new))
	want := wire.DeltaInfo{Base: wire.Identify(old), Result: wire.Identify(new), Kind: old.Kind, Bytes: new.Bytes()}
	if err != nil || info != want {
		t.Errorf("%+v, %v, want %+v", info, err, want)
	}
	if _, err := wire.InspectDelta(mustAppend(t, old)); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a container: %v", err)
	}
}
