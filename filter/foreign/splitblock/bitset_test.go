package splitblock

import (
	"bytes"
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
)

func TestBitsetRefuses(t *testing.T) {
	for _, n := range []int{0, 1, 31, 33, 63} {
		if _, err := OpenBitset(make([]byte, n)); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%d bytes: %v, want ErrCorrupt", n, err)
		}
	}
	f, err := NewShape(Shape{M: 256})
	if err != nil {
		t.Fatal(err)
	}
	dst := []byte("before")
	if got, err := f.AppendBitset(dst); !errors.Is(err, umbel.ErrMismatch) || !bytes.Equal(got, dst) {
		t.Errorf("a filter with hash %v: %q, %v, want ErrMismatch", f.Hasher(), got, err)
	}
}

func FuzzBitset(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := OpenBitset(b)
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("%v, want ErrCorrupt", err)
			}
			return
		}
		if got := bitset(t, g); !bytes.Equal(got, b) {
			t.Fatalf("got %x, want %x", got, b)
		}
		d := umbel.Digest{H1: uint64(len(b)) * 0x9e3779b97f4a7c15}
		if g.Has(d) == g.Add(d) || !g.Has(d) {
			t.Fatal("Add must report a change if and only if Has was false before, and Has must be true afterwards")
		}
		if s := g.Stats(); !(s.FPRate >= 0 && s.FPRate <= 1) {
			t.Fatalf("rate %v", s.FPRate)
		}
	})
}
