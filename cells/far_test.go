//go:build !race

// The race detector uses several bytes for each allocated byte, and these arrays have gibibytes that
// are hardly used.

package cells

import (
	"strconv"
	"testing"
)

func skipUnlessLarge(t *testing.T) {
	t.Helper()
	if testing.Short() || strconv.IntSize < 64 {
		t.Skip("reads a gibibyte")
	}
}

// Positions of bits above 2^32 are not truncated to 32 bits.
func TestBitsBeyond32BitPositions(t *testing.T) {
	skipUnlessLarge(t)
	const m = 1 << 33
	a, err := New(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []uint64{5, 1 << 32, 1<<32 + 5, m - 1} {
		if a.Bit(i) || !a.SetBit(i) || !a.Bit(i) || a.Get(i) != 1 {
			t.Fatalf("bit %d lost its value", i)
		}
	}
	if a.SetBit(5) || a.Bit(1<<31) || a.Bit(6) || a.Nonzero() != 4 {
		t.Fatalf("%d bits are set, want 4", a.Nonzero())
	}
	const r = 1 << 20
	for _, group := range []uint64{64, 512} {
		out := mustFold(t, a, r, group)
		for _, i := range []uint64{5, 1 << 32, 1<<32 + 5, m - 1} {
			if j := i/group/r*group + i%group; !out.Bit(j) {
				t.Errorf("folded by groups of %d, bit %d for %d is zero", group, j, i)
			}
		}
		if out.Nonzero() != 4 {
			t.Errorf("%d bits are set in the fold, want 4", out.Nonzero())
		}
	}
}

// Positions of counters above 2^32 are not truncated either.
func TestCountersBeyond32BitPositions(t *testing.T) {
	skipUnlessLarge(t)
	const m, group = 1<<32 + 1<<12, 32
	a, err := New(m, 2)
	if err != nil {
		t.Fatal(err)
	}
	a.Put(m-1, 2)
	a.Put(m-1-group, 2)
	if a.Inc(1<<32) != 1 || a.Get(0) != 0 || a.Dec(m-1) != 1 || a.Get(m-1-group) != 2 {
		t.Fatal("a counter beyond 2^32 lost its value")
	}
	const r = m / group
	out := mustFold(t, a, r, group)
	if out.Get(group-1) != 3 || out.Get(0) != 1 {
		t.Fatalf("fold to one group is %v, want 1 in cell 0 and 3 in cell %d", unpacked(out), group-1)
	}
}
