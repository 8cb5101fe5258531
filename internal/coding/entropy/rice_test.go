package entropy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// stringOf returns a string of n bits with ones at the positions.
func stringOf(n uint64, at ...uint64) Bits {
	b := NewBits(n)
	for _, i := range at {
		b.Words[i/64] |= 1 << (i % 64)
	}
	return b
}

// TestRiceBytes compares codes with those written by hand from the comment of AppendRice.
func TestRiceBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		b    Bits
		want []byte
	}{
		{"no bits", NewBits(0), []byte{0}},
		{"no ones", NewBits(100), []byte{0}},
		{"the first", stringOf(1, 0), []byte{1, 0, 0b1}},
		{"the second", stringOf(2, 1), []byte{1, 0, 0b10}},
		{"gap of 5, k = 1", stringOf(100, 5), []byte{1, 1, 0b1100}},
		{"gaps of 5 and 4, k = 1 before 2", stringOf(100, 5, 10), []byte{2, 1, 0b0100_1100}},
		{"the last of 2^16, k = 15 before 16", stringOf(1<<16, 1<<16-1), []byte{1, 15, 0b1111_1110, 0xff, 1}},
	} {
		got := AppendRice([]byte("x"), c.b)[1:]
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s: %x, want %x", c.name, got, c.want)
		}
	}
}

func TestRiceRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(b Bits) {
		t.Helper()
		code := AppendRice(nil, b)
		if n := RiceBytes(b); n != uint64(len(code)) {
			t.Fatalf("%d bits: RiceBytes says %d, the code has %d", b.Len, n, len(code))
		}
		back := NewBits(b.Len)
		for i := range back.Words {
			back.Words[i] = ^uint64(0)
		}
		if err := DecodeRice(code, back); err != nil || !slices.Equal(back.Words, b.Words) {
			t.Fatalf("%d bits, %d ones: not what was coded: %v", b.Len, b.Count(), err)
		}
	}
	for n := range uint64(200) {
		for _, p := range []float64{0, 0.01, 0.1, 0.5, 0.9, 1} {
			check(random(r, n, p))
		}
	}
	for _, p := range []float64{1e-6, 1e-5, 1e-3, 0.1, 0.5, 1} {
		check(random(r, 1<<19-13, p))
	}
	// Gaps that no k suits: unary parts longer than a word.
	dense := make([]uint64, 3000)
	for i := range dense {
		dense[i] = uint64(i)
	}
	check(stringOf(1<<20, append(dense, 5000, 1<<19, 1<<20-1)...))
}

// TestRiceParameter: no other parameter gives a shorter code.
func TestRiceParameter(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 1 + r.Uint64N(3000)
		b := random(r, n, r.Float64()*r.Float64())
		if r.IntN(4) == 0 { // clustered
			for i := range b.Words[:len(b.Words)/2] {
				b.Words[i] = ^uint64(0)
			}
			b = random(r, n, 1)
			clear(b.Words[len(b.Words)/2:])
		}
		if b.Count() == 0 {
			continue
		}
		got := riceOf(b.Count(), b.Len, gaps(b))
		for k := range uint(20) {
			size := uint64(0)
			for g := range gaps(b) {
				size += g>>k + 1 + uint64(k)
			}
			if size < got.bits || size == got.bits && k < got.k {
				t.Fatalf("k = %d for %d bits, %d would make %d", got.k, got.bits, k, size)
			}
		}
	}
}

// TestRiceHostile: the decoder accepts only codes that the encoder writes.
func TestRiceHostile(t *testing.T) {
	b := stringOf(1000, 5, 17, 400, 402, 999)
	good := AppendRice(nil, b)
	for n := range good {
		refuseRice(t, "truncated", good[:n], b.Len)
	}
	refuseRice(t, "appended", append(bytes.Clone(good), 0), b.Len)
	refuseRice(t, "too short a string", good, 999)
	// Bits set after the code, in the last byte.
	end := bytes.Clone(AppendRice(nil, stringOf(100, 5)))
	end[len(end)-1] |= 0x80
	refuseRice(t, "bits in the last byte", end, 100)
	for _, c := range []struct {
		name string
		src  []byte
	}{
		{"nothing", nil},
		{"none in two bytes", []byte{0x80, 0}},
		{"one in two bytes", []byte{0x81, 0, 0, 1}},
		{"none, and a parameter", []byte{0, 0}},
		{"no end of a number", bytes.Repeat([]byte{0xff}, 20)},
		{"more ones than bits", []byte{101, 0, 0xff}},
		{"no parameter", []byte{1}},
		{"parameter 64", []byte{1, 64, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"zeros without end", append([]byte{1, 0}, make([]byte, 100)...)},
		{"a gap of 2^63 and more", append([]byte{1, 63, 0b10}, bytes.Repeat([]byte{0xff}, 8)...)},
		{"a gap beyond 2^64", append([]byte{1, 63, 0b100}, bytes.Repeat([]byte{0xff}, 8)...)},
	} {
		refuseRice(t, c.name, c.src, 100)
	}
}

func refuseRice(t *testing.T, name string, src []byte, n uint64) {
	t.Helper()
	if err := DecodeRice(src, NewBits(n)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%s: %v, want %v", name, err, ErrCorrupt)
	}
}

func FuzzDecodeRice(f *testing.F) {
	f.Add(AppendRice(nil, stringOf(1000, 5, 17, 400, 402, 999)), uint16(1000))
	f.Add([]byte{0}, uint16(0))
	f.Add(append([]byte{1, 63, 0b100}, bytes.Repeat([]byte{0xff}, 8)...), uint16(100))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		b := NewBits(uint64(n))
		err := DecodeRice(src, b)
		sameOneByOne(t, src, b, err)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error without sentinel: %v", err)
			}
			return
		}
		again := NewBits(b.Len)
		if code := AppendRice(nil, b); len(code) > len(src) {
			t.Fatalf("%d bytes, the one read has %d", len(code), len(src))
		} else if err := DecodeRice(code, again); err != nil || !slices.Equal(again.Words, b.Words) {
			t.Fatalf("what was written is another string: %v", err)
		}
	})
}

// sameOneByOne checks that Positions reads from src what DecodeRice did, also if bytes follow.
func sameOneByOne(t *testing.T, src []byte, b Bits, err error) {
	t.Helper()
	for _, after := range []string{"", "after"} {
		p, failed := ReadPositions(append(bytes.Clone(src), after...), b.Len)
		list := []uint64{}
		if failed == nil {
			if p.Left() > 8*uint64(len(src)+len(after)) {
				t.Fatalf("%d ones in %d bytes", p.Left(), len(src))
			}
			for at := p.Next(); at != None; at = p.Next() {
				list = append(list, at)
			}
			var rest []byte
			if rest, failed = p.End(); err == nil && string(rest) != after {
				t.Fatalf("%q follow the code, want %q", rest, after)
			}
		}
		switch {
		case failed != nil && !errors.Is(failed, ErrCorrupt):
			t.Fatalf("error without sentinel: %v", failed)
		case err != nil:
		case failed != nil:
			t.Fatalf("one by one: %v", failed)
		case !slices.Equal(Sparse{list, b.Len}.Bits().Words, b.Words):
			t.Fatalf("one by one: %d", list)
		}
	}
}

func BenchmarkRice(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range []float64{1e-4, 1e-3, 0.01, 0.1} {
		s := random(r, 1<<19, p)
		code := AppendRice(nil, s)
		back := NewBits(s.Len)
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"append", func() { code = AppendRice(code[:0], s) }},
			{"decode", func() {
				if err := DecodeRice(code, back); err != nil {
					b.Fatal(err)
				}
			}},
			{"size", func() { RiceBytes(s) }},
		} {
			b.Run(fmt.Sprintf("%s/p=%g", op.name, p), func(b *testing.B) {
				b.SetBytes(int64(s.Len / 8))
				b.ReportAllocs()
				for b.Loop() {
					op.run()
				}
			})
		}
	}
}
