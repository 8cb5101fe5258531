package delta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// revised is a state that differs from wiretest.Sample(t) in all ways that deltas support, with
// every coding of blocks.
func revised(t testing.TB) (base, result umbel.State) {
	base = wiretest.Sample(t)
	base.Arrays = append(base.Arrays, wiretest.Array(t, 1<<19+64, 1, wiretest.Noise), wiretest.Array(t, 128, 1, wiretest.Noise), wiretest.Array(t, 256, 1, wiretest.Noise))
	result = base.Clone()
	result.Params[0].Value = umbel.Uint(8)
	result.Arrays[0] = wiretest.Array(t, 70, 1, wiretest.Ones)
	result.Arrays[1].Words[0] = 12345
	result.Arrays[4].Words[8192] ^= 5
	result.Arrays[5] = unfold(t, base.Arrays[5], 2)
	result.Arrays[5].Words[0] &^= result.Arrays[5].Words[1] & wiretest.Noise(3)
	result.Arrays[6] = fold(t, base.Arrays[6], 2)
	result.Parts = append([]umbel.State{{Kind: "new"}}, result.Parts...)
	return base, result
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

// wantRefused fails unless Apply refuses a delta and leaves the base unchanged.
func wantRefused(t *testing.T, what string, base umbel.State, message []byte, want ...error) {
	t.Helper()
	before := base.Clone()
	s, err := delta.Apply(base, message, wire.Limits{Bytes: 1 << 20})
	is := false
	for _, w := range want {
		is = is || errors.Is(err, w)
	}
	if !is {
		t.Fatalf("%s: %v, want one of %v", what, err, want)
	}
	if s.Kind != "" {
		t.Fatalf("%s: a state with the error", what)
	}
	if !wiretest.Equal(base, before) {
		t.Fatalf("%s: the base changed", what)
	}
}

func TestApplyDamaged(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	base, result := revised(t)
	good := mustDelta(t, base, result)
	for n := range len(good) {
		wantRefused(t, "cut off", base, good[:n:n], umbel.ErrCorrupt)
		if n > 8 && n != len(good)-4 {
			wantRefused(t, "cut off, and mended", base, wiretest.Sum(bytes.Clone(good[:n])), umbel.ErrCorrupt, umbel.ErrLimit)
		}
	}
	wantRefused(t, "a byte behind it", base, append(bytes.Clone(good), 0), umbel.ErrCorrupt)
	wantRefused(t, "a byte behind it, and mended", base, wiretest.Sum(append(bytes.Clone(good[:len(good)-4]), 0)), umbel.ErrCorrupt)
	wantRefused(t, "twice", base, append(bytes.Clone(good), good...), umbel.ErrCorrupt)
	for i := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		wantRefused(t, "a bit flipped", base, bad, umbel.ErrCorrupt)
		// Another delta may have the same result.
		if s, err := delta.Apply(base, wiretest.Resum(bad), wire.Limits{}); err == nil && !wiretest.Equal(s, result) {
			t.Fatalf("bit %d flipped, and mended: another state", i)
		} else if err != nil {
			wantRefused(t, "a bit flipped, and mended", base, wiretest.Resum(bad), umbel.ErrCorrupt, umbel.ErrLimit, umbel.ErrMismatch)
		}
	}
}

func TestApplyMismatch(t *testing.T) {
	base, result := revised(t)
	third := result.Clone()
	third.Arrays[0].Words[0]++
	message := mustDelta(t, base, result)
	for name, s := range map[string]umbel.State{"applied twice": result, "too early": third, "another kind": {Kind: "other"}} {
		wantRefused(t, name, s, message, umbel.ErrMismatch)
		_, err := delta.Apply(s, message, wire.Limits{})
		for _, s := range []umbel.State{base, result} {
			if id := hashtree.Identify(s).String()[:8]; !strings.Contains(err.Error(), id) {
				t.Errorf("%s: %v, want the ID %s", name, err, id)
			}
		}
	}
	wantRefused(t, "a state that is none", umbel.State{}, message, umbel.ErrCorrupt)
	wantApplied(t, base, mustDelta(t, base, base), base)
}

// A wrong ID of the base is detected by the ID of the result.
func TestApplyWrongID(t *testing.T) {
	base, result := revised(t)
	message := mustDelta(t, base, result)
	wrong := base.Clone()
	wrong.Arrays[4].Words[0]++
	p := delta.Decoder{Base: hashtree.Identify(base)}
	if _, err := p.Apply(wrong, message); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("%v, want %v", err, umbel.ErrCorrupt)
	}
	p.Unverified = true
	if _, err := p.Apply(wrong, message); err != nil {
		t.Errorf("unverified: %v", err)
	}
	lying, err := delta.Encoder{Base: hashtree.Identify(result), Result: hashtree.Identify(base)}.Append(nil, base, result)
	if err != nil {
		t.Fatal(err)
	}
	wantRefused(t, "IDs changed round", base, lying, umbel.ErrMismatch)
}

func TestApplyLimits(t *testing.T) {
	base, result := revised(t)
	message := mustDelta(t, base, result)
	for name, l := range map[string]wire.Limits{
		"bytes": {Bytes: result.Bytes() - 1},
	} {
		if _, err := delta.Apply(base, message, l); !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%s: %v, want %v", name, err, umbel.ErrLimit)
		}
	}
	if _, err := delta.Apply(base, message, wire.Limits{Bytes: result.Bytes()}); err != nil {
		t.Errorf("exactly the limits: %v", err)
	}
}

// deltaOf returns a delta of fields from base to a result with an invalid ID.
func deltaOf(base umbel.State, bytes uint64, fields ...any) []byte {
	id := hashtree.Identify(base)
	all := []any{string(id[:]), strings.Repeat("?", 32), bytes, string(rune(len(base.Kind))), base.Kind}
	b := wiretest.Container(append(all, fields...)...)
	copy(b, "\x89umdlt\n\x01")
	return wiretest.Resum(b)
}

func uvarint(n uint64) string { return string(binary.AppendUvarint(nil, n)) }

func TestApplyCorrupt(t *testing.T) {
	base := umbel.State{
		Kind: "x", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}, {Name: "rate", Value: umbel.Float(1)}},
		Arrays: []cells.Array{wiretest.Array(t, 1<<20, 1, wiretest.Noise), wiretest.Array(t, 64, 4, wiretest.Noise)},
	}
	const same = "\x01\x00" // plane 0 of the base
	for _, c := range []struct {
		name   string
		fields []any
		at     int // offset of the error in the change, and the wrong ID if it is in the result
	}{
		{"nothing", nil, 0},
		{"param beyond the last", []any{"\x01\x02", uint64(0), "\x00\x00"}, 2},
		{"param not a number", []any{"\x01\x01", uint64(0x7ff8 << 48), "\x00\x00"}, 10},
		{"form 5", []any{"\x00\x01\x05\x00"}, 3},
		{"plane beyond the last", []any{"\x00\x01\x01\x02"}, 4},
		{"part of nothing", []any{"\x00\x00\x01\x01"}, 4},
		{"too many parts", []any{"\x00\x00", uvarint(1 << 16)}, 5},
		{"a fold by nothing", []any{"\x00\x01\x02\x00\x00\x40"}, 6},
		{"groups of nothing", []any{"\x00\x01\x02\x00\x02\x00"}, 6},
		{"a fold that doesn't go up", []any{"\x00\x01\x02\x00\x03\x40"}, 6},
		{"an unfold that overflows", []any{"\x00\x01\x03\x00", uvarint(1 << 63), "\x40"}, 15},
		{"an unfold too large", []any{"\x00\x01\x03\x00", uvarint(1 << 40), "\x40"}, 11},
		{"a refinement by 1", []any{"\x00\x01\x04\x00\x01\x40"}, 6},
		{"a refinement by a large prime", []any{"\x00\x01\x04\x00\x43\x40"}, 6},
		{"a refinement of counters", []any{"\x00\x01\x04\x01\x02\x40"}, 6},
		{"an empty refinement", []any{"\x00\x01\x04\x00\x02\x40", "\x00\x00\x00\x00\x00"}, 7},
		{"a run of one", []any{"\x00\x01", same, "\x81\x01"}, 6},
		{"a run too long", []any{"\x00\x01", same, "\x81\x03"}, 6},
		{"a run where it unfolds", []any{"\x00\x01\x03\x00\x02\x40\x81\x04", "\x00\x00"}, 8},
		{"coding 134", []any{"\x00\x01", same, "\x86"}, 5},
		{"an empty payload", []any{"\x00\x01", same, "\x82\x00\x80\x00"}, 6},
		{"a payload too long", []any{"\x00\x01", same, "\x82", uvarint(1 << 17)}, 8},
		{"flips beyond the end", []any{"\x00\x01", same, "\x84\x02\x01\x3f", "\x80\x00"}, 8},
		{"another size than the head says", []any{"\x00\x00\x00"}, 3},
		{"another result", []any{"\x00\x02", same, "\x81\x02\x01\x00\x81\x02", "\x00"}, -1},
	} {
		b := deltaOf(base, 1<<18, c.fields...)
		wantRefused(t, c.name, base, b, umbel.ErrCorrupt)
		_, err := delta.Apply(base, b, wire.Limits{Bytes: 1 << 20})
		at := -1
		if n, _ := fmt.Sscanf(err.Error(), "byte %d", &at); n == 1 {
			at -= 82 // length of the head
		}
		if at != c.at {
			t.Errorf("%s: %v, at byte %d of the change, want %d", c.name, err, at, c.at)
		}
	}
}

// A delta of a later version is reported as unsupported.
func TestApplyLaterVersion(t *testing.T) {
	base, result := revised(t)
	version := mustDelta(t, base, result)
	version[2]++
	form := deltaOf(base, 0, "\x00\x01\x05\x00")
	for name, b := range map[string][]byte{"version": version, "form": form} {
		if _, err := delta.Apply(base, b, wire.Limits{}); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", name, err, errors.ErrUnsupported)
		}
	}
	if _, err := wire.Parse(version, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("Parse of a delta: %v", err)
	}
	if _, err := delta.Apply(base, fixture.Must(wire.Append(nil, base)), wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a container: %v", err)
	}
}

// A small delta of a huge result allocates little, with any limits.
func TestApplyBombs(t *testing.T) {
	base := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 1<<16, 1, wiretest.Noise)}}
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
		b := deltaOf(base, 1<<13, c.fields...)
		var err error
		if n := wiretest.Allocated(func() { _, err = delta.Apply(base, b, c.l) }); n > 256<<10 {
			t.Errorf("%s: took %d bytes", c.name, n)
		}
		if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	claims := deltaOf(base, 1<<40, "\x00\x00\x00")
	if _, err := delta.Apply(base, claims, wire.Limits{}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("a head that claims 1 TiB: %v", err)
	}
}

func TestInspectDelta(t *testing.T) {
	base, result := revised(t)
	info, err := delta.Inspect(mustDelta(t, base, result))
	from, to := hashtree.Identify(base), hashtree.Identify(result)
	want := delta.Info{Base: delta.Prefix(from[:4]), Result: delta.Prefix(to[:8]), Kind: base.Kind, Bytes: result.Bytes()}
	if err != nil || info != want {
		t.Errorf("%+v, %v, want %+v", info, err, want)
	}
	info, err = delta.Inspect(deltaOf(base, 1<<13, "\x00\x00\x00"))
	want = delta.Info{Base: delta.Prefix(from[:]), Result: delta.Prefix(strings.Repeat("?", 32)), Kind: base.Kind, Bytes: 1 << 13}
	if err != nil || info != want {
		t.Errorf("version 1: %+v, %v, want %+v", info, err, want)
	}
	if !info.Base.Begins(from) || info.Result.Begins(to) {
		t.Errorf("%v begins %v: %v, %v begins %v: %v", info.Base, from, info.Base.Begins(from), info.Result, to, info.Result.Begins(to))
	}
	if _, err := delta.Inspect(fixture.Must(wire.Append(nil, base))); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a container: %v", err)
	}
}
