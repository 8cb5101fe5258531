package squid

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// received returns the mask that a Squid with bug 5510 keeps if the first read of the response's body had first
// bytes.
func received(mask []byte, first int) []byte {
	b := slices.Clone(mask)
	for i := BlockBytes; i < min(len(mask), first-BlockBytes); i++ {
		b[i] = mask[i-BlockBytes]
	}
	return b
}

func urlDigests(format string, n int) []umbel.Digest {
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = Hasher.HashBytes(AppendKey(nil, MethodGet, fmt.Sprintf(format, i), ""))
	}
	return ds
}

// made returns the digest of n objects with b bits per entry.
func made(t testing.TB, n int, b uint8) Digest {
	t.Helper()
	f := testFilter(t, 8*fixture.Must(maskSize(uint32(n), b)))
	f.AddAll(nil, urlDigests("http://127.0.0.1:8000/g/%d", n))
	f.SetPlanned(umbel.Planned{Keys: uint64(n), FPRate: 0.5})
	return fixture.Must(f.Digest())
}

// present returns the number of ds that a filter with the mask has.
func present(t testing.TB, d Digest, mask []byte, ds []umbel.Digest) (n int) {
	t.Helper()
	d.Mask = mask
	f := fixture.Must(d.Filter())
	for _, key := range ds {
		if f.Has(key) {
			n++
		}
	}
	return n
}

// TestBug5510 compares the model with the hits and false hits that were measured with Squid 5.7, of 500 objects
// each.
func TestBug5510(t *testing.T) {
	held, absent := urlDigests("http://127.0.0.1:8000/g/%d", 500), urlDigests("http://127.0.0.1:8000/zz/%d", 500)
	for _, c := range []struct{ n, hits, falseHits, right int }{
		{2000, 67, 54, 48},
		{6000, 52, 41, 43},
		{20000, 267, 65, 54},
		{100000, 454, 45, 42},
	} {
		d := made(t, c.n, 5)
		mask := received(d.Mask, 4096)
		hits, falseHits := present(t, d, mask, held), present(t, d, mask, absent)
		right := [2]int{present(t, d, d.Mask, held), present(t, d, d.Mask, absent)}
		if hits != c.hits || falseHits != c.falseHits || right != [2]int{500, c.right} {
			t.Errorf("%d objects: %d hits and %d false hits, %d without the bug, want %d, %d, %d", c.n, hits, falseHits, right, c.hits, c.falseHits, c.right)
		}
	}
}

// TestTolerant: a receiver with or without the bug has all keys, for every length of the first read.
func TestTolerant(t *testing.T) {
	for _, c := range []struct {
		n    int
		bits uint8
	}{{10, 60}, {100, 16}, {200, 12}, {2000, 16}, {6000, 12}, {20000, 8}} {
		d := made(t, c.n, c.bits)
		before := slices.Clone(d.Mask)
		tolerant := d.Tolerant()
		if !slices.Equal(d.Mask, before) {
			t.Fatal("Tolerant changed its receiver")
		}
		if err := tolerant.Check(); err != nil {
			t.Errorf("%d objects with %d bits: %v", c.n, c.bits, err)
		}
		step := 1 + c.n/100*37
		for first := 0; first <= 4096; first += step {
			got := received(tolerant.Mask, min(first, 4096))
			for i := range got {
				if missing := d.Mask[i] &^ got[i]; missing != 0 {
					t.Fatalf("%d objects, first read of %d bytes: byte %d lacks the bits %08b", c.n, first, i, missing)
				}
			}
		}
	}
}

// TestTolerantRates: the false-positive rates of the tolerant form, as fill ratio to the power 4, mean over the
// cells with and without more bits.
func TestTolerantRates(t *testing.T) {
	absent := urlDigests("http://absent.example/%d", 20000)
	for _, c := range []struct {
		n           int
		bits        uint8
		plain, more float64
	}{{100000, 5, 0.092, 0.103}, {20000, 8, 0.024, 0.037}, {2000, 16, 0.0025, 0.022}} {
		d := made(t, c.n, c.bits)
		plain := float64(present(t, d, d.Mask, absent)) / float64(len(absent))
		more := float64(present(t, d, d.Tolerant().Mask, absent)) / float64(len(absent))
		if !fixture.Near(plain, c.plain, 0.25) || !fixture.Near(more, c.more, 0.1) {
			t.Errorf("%d objects with %d bits: rates %.4f and %.4f, want %.4f and %.4f", c.n, c.bits, plain, more, c.plain, c.more)
		}
	}
}

// TestRelayed: from a digest alone, without its keys, follows one that every Squid accepts and in which queries
// have no false negatives, at a rate that is little higher.
func TestRelayed(t *testing.T) {
	held, absent := urlDigests("http://127.0.0.1:8000/g/%d", 500), urlDigests("http://absent.example/%d", 20000)
	for _, n := range []int{500, 2000, 6000, 20000, 100000} {
		d := made(t, n, DefaultBits)
		r, err := d.Relayed()
		if err != nil {
			t.Fatalf("%d objects: %v", n, err)
		}
		for _, first := range []int{0, 128, 1000, 4096} {
			mask := received(r.Mask, first)
			if hits := present(t, r, mask, held); hits != 500 {
				t.Errorf("%d objects, first read of %d bytes: %d of 500 are present", n, first, hits)
			}
			before, after := present(t, d, d.Mask, absent), present(t, r, mask, absent)
			if float64(after) > 1.3*float64(before) {
				t.Errorf("%d objects, first read of %d bytes: %d false positives, want at most 1.3 times %d", n, first, after, before)
			}
		}
		if len(r.Mask) > max(len(d.Mask), 1<<17) {
			t.Errorf("%d objects: a mask of %d bytes becomes one of %d", n, len(d.Mask), len(r.Mask))
		}
	}
	full := made(t, 2000, 8)
	for i := range full.Mask {
		full.Mask[i] = 0x7f
	}
	if _, err := full.Relayed(); !errors.Is(err, ErrOverfull) {
		t.Errorf("an overfull digest: %v, want ErrOverfull", err)
	}
	for i := range full.Mask { // 62.5 %, in every eighth byte others
		full.Mask[i] = 0x1f
		if i/128%2 == 0 {
			full.Mask[i] = 0xf8
		}
	}
	if r, err := full.Relayed(); err != nil || r.Fill() > MaxFill {
		t.Errorf("a digest near the limit: fill %v, %v", r.Fill(), err)
	}
	if r, err := (Digest{Capacity: 8, BitsPerEntry: 8, Mask: make([]byte, 8)}).Relayed(); err != nil || len(r.Mask) != 8 {
		t.Errorf("an empty digest becomes one of %d bytes, %v", len(r.Mask), err)
	}
	for _, u := range []int{0, -1, MaxMask} {
		if _, err := full.Unfold(u); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("unfolded by %d: %v, want ErrGoal", u, err)
		}
	}
}

// TestUnfoldDigest: a digest has the cells of its filter, also unfolded.
func TestUnfoldDigest(t *testing.T) {
	d := made(t, 2000, DefaultBits)
	f := fixture.Must(d.Filter())
	if err := f.Unfold(6); err != nil {
		t.Fatal(err)
	}
	if u := fixture.Must(d.Unfold(6)); !slices.Equal(u.Mask, fixture.Must(f.Digest()).Mask) || u.Check() != nil {
		t.Errorf("the mask differs from that of the filter, %v", u.Check())
	}
}

// A tolerant digest of keys has all of them for receivers with and without the error, at no higher rate than Squid's own.
func TestTolerantOf(t *testing.T) {
	for _, n := range []int{0, 1, 500, 20_000} {
		ds := urlDigests("http://127.0.0.1:8000/g/%d", n)
		capacity := uint32(max(n, 1))
		d := fixture.Must(TolerantOf(ds, capacity))
		own := fixture.Must(DigestOf(ds, capacity, DefaultBits))
		if d.Fill() > own.Fill() || d.Count != uint32(n) || d.Capacity != capacity {
			t.Errorf("%d keys: fill ratio %.3f, want at most %.3f; %+v", n, d.Fill(), own.Fill(), d)
		}
		for _, first := range []int{0, 1000, firstRead} {
			if got := present(t, d, received(d.Mask, first), ds); got != n {
				t.Errorf("%d of %d keys are found after a first read of %d bytes", got, n, first)
			}
		}
	}
	for _, capacity := range []uint32{0, 100} {
		if _, err := TolerantOf(urlDigests("http://a/%d", 500), capacity); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("capacity %d: got %v", capacity, err)
		}
	}
}
