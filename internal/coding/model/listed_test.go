package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

// appendListed appends the lists that lead from base to a, with groups of the given number of words.
func appendListed(c *model.Modeler, words uint64, base, a cells.Array) []byte {
	if words == 0 && a.Width == 1 {
		var gone, come entropy.Sparse
		for i := range a.Len {
			list := &come
			if base.Bit(i) {
				list = &gone
			}
			if base.Bit(i) != a.Bit(i) {
				list.Ones = append(list.Ones, list.Len)
			}
			list.Len++
		}
		return model.AppendListedBits(nil, gone, come)
	}
	size := words * 64 / uint64(a.Width) // cells of a group
	at := entropy.Sparse{Len: a.Len}
	if words > 0 {
		at.Len = (a.Len + size - 1) / size
	} else {
		size = 1
	}
	var was, is []uint64
	for g := range at.Len {
		var x, y []uint64
		changed := false
		for i := g * size; i < min((g+1)*size, a.Len); i++ {
			x, y = append(x, base.Get(i)), append(y, a.Get(i))
			changed = changed || base.Get(i) != a.Get(i)
		}
		if changed {
			at.Ones, was, is = append(at.Ones, g), append(was, x...), append(is, y...)
		}
	}
	return c.AppendListed(nil, words, at, arrayOf(was, a.Width), arrayOf(is, a.Width))
}

func arrayOf(values []uint64, width uint) cells.Array {
	a, err := cells.New(uint64(len(values)), width)
	if err != nil {
		panic(err)
	}
	for i, v := range values {
		a.Put(uint64(i), v)
	}
	return a
}

// changed returns an array that differs from a in up to n cells, and at least one.
func changed(r *rand.Rand, a cells.Array, n uint64) cells.Array {
	b := a.Clone()
	at := r.Uint64N(a.Len)
	b.Put(at, b.Get(at)^1)
	for range n {
		if i := r.Uint64N(a.Len); i != at {
			b.Put(i, r.Uint64()&a.Limit())
		}
	}
	return b
}

func TestListedRoundTrip(t *testing.T) {
	var c model.Modeler
	for _, content := range contents {
		t.Run(content.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 5))
			for _, n := range lengths[1:] {
				for _, width := range widths {
					base := newArray(t, n, width)
					content.fill(r, base)
					for _, words := range []uint64{0, 1, 3, 8, 64} {
						for _, changes := range []uint64{0, 5, n} {
							a, got := changed(r, base, changes), base.Clone()
							if err := c.DecodeListed(appendListed(&c, words, base, a), got); err != nil || !got.Equal(a) {
								t.Fatalf("%d cells of %d bits in groups of %d words: equal %v, %v", n, width, words, got.Equal(a), err)
							}
						}
					}
				}
			}
		})
	}
}

// TestListedErrors has one fault in each case.
func TestListedErrors(t *testing.T) {
	var c model.Modeler
	for _, test := range []struct {
		name  string
		width uint
		src   []byte
	}{
		{"no words of a group", 1, nil},
		{"groups of 65 words", 1, []byte{65, 1, 0, 1, 0, 0}},
		{"no change of bits", 1, []byte{0, 0, 0}},
		{"one list", 1, []byte{0, 1, 0, 1}},
		{"bytes left", 1, []byte{0, 0, 1, 0, 1, 0}},
		{"a change beyond the last one", 1, []byte{0, 1, 6, 0b11, 0}},
		{"a change beyond the last zero", 1, []byte{0, 0, 1, 6, 35<<2 | 2}},
		{"no group changes", 1, []byte{1, 0, 0, 0}},
		{"no counter changes", 4, []byte{0, 0, 0, 0}},
		{"a group beyond the end", 1, []byte{1, 1, 0, 0b100, 0, 0}},
		{"more groups than bits", 1, []byte{1, 2, 7, 1, 0, 0}},
		{"a group without its change", 1, []byte{1, 1, 0, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newArray(t, 100, test.width)
			a.Inc(50)
			if err := c.DecodeListed(test.src, a); !errors.Is(err, model.ErrCorrupt) {
				t.Errorf("got %v, want an error that wraps ErrCorrupt", err)
			}
		})
	}
}

// A code of few bytes does not make the decoder allocate for more groups than MaxListed words have.
func TestListedLimit(t *testing.T) {
	var c model.Modeler
	a := newArray(t, 64*64*(model.MaxListed/64+1), 1)
	at := entropy.Sparse{Len: model.MaxListed/64 + 1}
	for i := range at.Len {
		at.Ones = append(at.Ones, i)
	}
	if err := c.DecodeListed(append(entropy.AppendRiceSparse([]byte{64}, at), 0, 0), a); !errors.Is(err, model.ErrCorrupt) {
		t.Errorf("got %v, want an error that wraps ErrCorrupt", err)
	}
}

func FuzzDecodeListed(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte, n uint16, width uint8, seed uint64) {
		var c model.Modeler
		base := sized(t, n, width)
		contents[seed%uint64(len(contents))].fill(rand.New(rand.NewPCG(seed, 0)), base)
		a := base.Clone()
		err := c.DecodeListed(src, a)
		if err == nil && a.Equal(base) {
			return // groups in which nothing changes have no shorter list
		}
		decoded(t, err, a,
			func() []byte { return appendListed(&c, uint64(src[0]), base, a) },
			func(src []byte, again cells.Array) error {
				copy(again.Words, base.Words)
				return c.DecodeListed(src, again)
			})
	})
}

// BenchmarkListed changes 100 cells of an array of 32 MiB and changes them back, in lists of cells or of groups of 8
// words. With -short the array has 1 MiB.
func BenchmarkListed(b *testing.B) {
	bits := uint64(1 << 28)
	if testing.Short() {
		bits = 1 << 23
	}
	r := rand.New(rand.NewPCG(1, 6))
	base := newArray(b, bits, 1)
	throw(r, base, base.Len/100)
	a := changed(r, base, 100)
	for _, words := range []uint64{0, 8} {
		var c model.Modeler
		there, back := appendListed(&c, words, base, a), appendListed(&c, words, a, base)
		got := base.Clone()
		b.Run(fmt.Sprintf("decode/words=%d", words), func(b *testing.B) {
			b.SetBytes(2 * int64(base.Bytes()))
			b.ReportAllocs()
			for b.Loop() {
				if err := errors.Join(c.DecodeListed(there, got), c.DecodeListed(back, got)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
