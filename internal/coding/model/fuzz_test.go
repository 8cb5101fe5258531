package model_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

// decoded checks the result of a decoder for untrusted input: an error of the package, or a
// well-formed block that encodes to a code of the same block.
func decoded(t *testing.T, err error, block cells.Array, encode func() []byte, decode func(src []byte, again cells.Array) error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, model.ErrCorrupt) {
			t.Fatalf("error without sentinel: %v", err)
		}
		return
	}
	if err := block.Check(); err != nil {
		t.Fatal(err)
	}
	again := dirty(block)
	if err := decode(encode(), again); err != nil || !again.Equal(block) {
		t.Fatalf("the code of what was decoded: %v, equal %v", err, again.Equal(block))
	}
}

// sized returns an array of a size that a fuzzer chose.
func sized(t *testing.T, n uint16, width uint8) cells.Array {
	return newArray(t, uint64(n), widths[int(width)%len(widths)])
}

func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte, n uint16, width uint8) {
		var c model.Modeler
		a := sized(t, n, width)
		err := c.Decode(src, a)
		decoded(t, err, a, func() []byte { return c.Append(nil, a) }, c.Decode)
	})
}

func FuzzDecodeDelta(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte, n uint16, width uint8, seed uint64) {
		var c model.Modeler
		base, a := sized(t, n, width), sized(t, n, width)
		r := rand.New(rand.NewPCG(seed, 0))
		contents[seed%uint64(len(contents))].fill(r, base)
		err := c.DecodeDelta(src, base, a)
		decoded(t, err, a,
			func() []byte { return c.AppendDelta(nil, base, a) },
			func(src []byte, again cells.Array) error { return c.DecodeDelta(src, base, again) })
	})
}

func FuzzDecodeRefinement(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte, groups, group, by uint8, seed uint64) {
		var c model.Modeler
		r, g := uint64(by)+1, uint64(group)+1
		fold := newArray(t, uint64(groups)*g, 1)
		throw(rand.New(rand.NewPCG(seed, 0)), fold, fold.Len/2)
		full := newArray(t, fold.Len*r, 1)
		err := c.DecodeRefinement(src, full, fold, r, g, 0, fold.Len)
		if err == nil && fold.Len > 0 {
			if again, err := full.Fold(r, g); err != nil || !again.Equal(fold) {
				t.Fatalf("the fold of what was decoded: %v, equal %v", err, again.Equal(fold))
			}
		}
		decoded(t, err, full,
			func() []byte { return c.AppendRefinement(nil, full, r, g, 0, fold.Len) },
			func(src []byte, again cells.Array) error {
				again.Clear()
				return c.DecodeRefinement(src, again, fold, r, g, 0, fold.Len)
			})
	})
}

// TestDamage changes codes byte by byte and truncates them. Each gives an error or a well-formed
// block.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var c model.Modeler
	for _, content := range contents {
		for _, width := range widths {
			base, a := newArray(t, 200, width), newArray(t, 200, width)
			content.fill(r, base)
			content.fill(r, a)
			damage(t, c.Append(nil, a), func(src []byte) {
				err := c.Decode(src, a)
				decoded(t, err, a, func() []byte { return c.Append(nil, a) }, c.Decode)
			})
			damage(t, c.AppendDelta(nil, base, a), func(src []byte) {
				err := c.DecodeDelta(src, base, a)
				decoded(t, err, a,
					func() []byte { return c.AppendDelta(nil, base, a) },
					func(src []byte, again cells.Array) error { return c.DecodeDelta(src, base, again) })
			})
		}
	}
}

// TestRefinementDamage does the same with refinements.
func TestRefinementDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var c model.Modeler
	for _, r := range []uint64{2, 3, 12, 35} {
		full := newArray(t, r*64*7, 1)
		throw(rng, full, full.Len/5)
		fold, err := full.Fold(r, 64)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		damage(t, c.AppendRefinement(nil, full, r, 64, 0, fold.Len), func(src []byte) {
			full.Clear()
			err := c.DecodeRefinement(src, full, fold, r, 64, 0, fold.Len)
			if err != nil {
				refused++
			}
			decoded(t, err, full,
				func() []byte { return c.AppendRefinement(nil, full, r, 64, 0, fold.Len) },
				func(src []byte, again cells.Array) error {
					again.Clear()
					return c.DecodeRefinement(src, again, fold, r, 64, 0, fold.Len)
				})
		})
		if refused == 0 {
			t.Errorf("by %d: no damage is noticed", r)
		}
	}
}

func damage(t *testing.T, code []byte, decode func(src []byte)) {
	t.Helper()
	step := 1 + len(code)/8
	for i := 0; i < len(code); i += step {
		decode(code[:i])
		for _, flip := range []byte{1, 0x80, 0xff} {
			src := bytes.Clone(code)
			src[i] ^= flip
			decode(src)
		}
	}
	decode(append(bytes.Clone(code), 1))
}

// TestDecodeErrors has one fault in each case.
func TestDecodeErrors(t *testing.T) {
	var c model.Modeler
	for _, test := range []struct {
		name  string
		width uint
		src   []byte
	}{
		{"no header", 4, nil},
		{"header cut", 4, []byte{0x80}},
		{"header longer than it need be", 4, []byte{0x81, 0, 0}},
		{"a list and no thresholds", 4, []byte{0x10, 0, 0}},
		{"length 64", 64, []byte{0x81, 8}},
		{"lengths beyond the width", 4, append([]byte{0x41}, make([]byte, 9)...)},
		{"more thresholds than values", 2, []byte{4, 0, 0, 0, 0}},
		{"strings missing", 4, []byte{3, 0, 0}},
		{"bytes left", 4, []byte{1, 0, 7}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := c.Decode(test.src, newArray(t, 100, test.width)); !errors.Is(err, model.ErrCorrupt) {
				t.Errorf("got %v, want an error that wraps ErrCorrupt", err)
			}
		})
	}
	base := newArray(t, 100, 4)
	for _, src := range [][]byte{nil, {0}, {64, 0}, {0, 64}, {0, 0, 0, 0, 0, 0, 0, 0}} {
		if err := c.DecodeDelta(src, base, newArray(t, 100, 4)); !errors.Is(err, model.ErrCorrupt) {
			t.Errorf("delta % x: got %v, want an error that wraps ErrCorrupt", src, err)
		}
	}
}

// TestAllocations: a Modeler that has processed its largest block allocates nothing.
func TestAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var c model.Modeler
	for _, width := range []uint{1, 4, 16} {
		base, a := newArray(t, 1<<15, width), newArray(t, 1<<15, width)
		throw(r, base, a.Len)
		throw(r, a, a.Len)
		a.Put(5, a.Limit())
		code, delta := c.Append(nil, a), c.AppendDelta(nil, base, a)
		dst := make([]byte, 0, len(code)+len(delta))
		got := a.Clone()
		run := func(name string, do func()) {
			if n := testing.AllocsPerRun(5, do); n > 0 {
				t.Errorf("%s, %d bits: %v allocations", name, width, n)
			}
		}
		run("Append", func() { c.Append(dst, a) })
		run("AppendDelta", func() { c.AppendDelta(dst, base, a) })
		run("Decode", func() { _ = c.Decode(code, got) })
		run("DecodeDelta", func() { _ = c.DecodeDelta(delta, base, got) })
		if width == 1 {
			fold, err := a.Fold(4, 64)
			if err != nil {
				t.Fatal(err)
			}
			code := c.AppendRefinement(nil, a, 4, 64, 0, fold.Len)
			run("AppendRefinement", func() { c.AppendRefinement(dst, a, 4, 64, 0, fold.Len) })
			run("DecodeRefinement", func() { got.Clear(); _ = c.DecodeRefinement(code, got, fold, 4, 64, 0, fold.Len) })
		}
	}
}

// TestMisuse: shapes that don't match panic, since they are errors of the caller.
func TestMisuse(t *testing.T) {
	bits, more, counters := newArray(t, 128, 1), newArray(t, 192, 1), newArray(t, 128, 4)
	var c model.Modeler
	for name, do := range map[string]func(){
		"delta of another length":   func() { c.AppendDelta(nil, bits, more) },
		"delta of another width":    func() { c.AppendDelta(nil, bits, counters) },
		"delta decoded to another":  func() { _ = c.DecodeDelta(nil, bits, more) },
		"refinement of counters":    func() { c.AppendRefinement(nil, counters, 2, 64, 0, 64) },
		"refinement by 5":           func() { c.AppendRefinement(nil, bits, 5, 1, 0, 20) },
		"refinement by 0":           func() { c.AppendRefinement(nil, bits, 0, 64, 0, 64) },
		"refinement beyond its end": func() { c.AppendRefinement(nil, bits, 2, 64, 0, 65) },
		"refinement of no fold":     func() { _ = c.DecodeRefinement([]byte{0, 0}, bits, more, 2, 64, 0, 64) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			do()
		})
	}
}
