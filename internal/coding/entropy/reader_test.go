package entropy

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReader reads payloads string by string, whole and damaged, and compares each result with
// that of Decode, which has all lengths from the start.
func TestReader(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var c, other Coder
	for trial := range 300 {
		var strs, got, want []Bits
		for range r.IntN(6) {
			s := NewBits(r.Uint64N(2000))
			odds := r.Float64() * r.Float64()
			for i := range s.Len {
				if r.Float64() < odds {
					s.Words[i/64] |= 1 << (i % 64)
				}
			}
			strs, got, want = append(strs, s), append(got, NewBits(s.Len)), append(want, NewBits(s.Len))
		}
		src := c.Append(nil, strs...)
		damaged := trial%3 != 0 && len(src) > 0
		if damaged {
			src[r.IntN(len(src))] ^= 1 << r.IntN(8)
		}
		wantErr := other.Decode(src, want...)
		gotErr := readAll(&c, src, got)
		if (gotErr == nil) != (wantErr == nil) || gotErr != nil && !errors.Is(gotErr, ErrCorrupt) || !damaged && gotErr != nil {
			t.Fatalf("trial %d: got error %v, that of Decode is %v", trial, gotErr, wantErr)
		}
		for k := range got {
			if gotErr == nil && !slices.Equal(got[k].Words, want[k].Words) {
				t.Fatalf("trial %d: string %d isn't what Decode gives", trial, k)
			}
		}
	}
}

func readAll(c *Coder, src []byte, strs []Bits) error {
	r, err := c.Read(src, len(strs))
	for _, s := range strs {
		if err != nil {
			return err
		}
		err = r.Next(s)
	}
	if err != nil {
		return err
	}
	return r.End()
}

func TestReaderErrors(t *testing.T) {
	var c Coder
	if _, err := c.Read([]byte{0}, 2); !errors.Is(err, ErrCorrupt) {
		t.Errorf("fewer levels than strings: %v, want an error that wraps ErrCorrupt", err)
	}
	r, err := c.Read([]byte{0, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Next(NewBits(5)); err != nil {
		t.Error(err)
	}
	if err := r.End(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("End before the last string: %v, want an error that wraps ErrCorrupt", err)
	}
}
