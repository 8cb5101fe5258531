package inpacket

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestMatchIsTheDefinition: Match agrees with the definition for every link and form, including
// dense tables.
func TestMatchIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		cs := rapid.SliceOfN(rapid.Custom(drawCodeword), 0, 140).Draw(t, "codewords")
		dst := drawGarbage(t, len(cs))
		if h.Form == Dense {
			bits := rapid.IntRange(h.Bits, min(h.Bits+130, MaxBits)).Draw(t, "stored bits")
			sets := drawSets(t, bits, len(cs))
			h.Seed = uint16(rapid.IntRange(0, len(sets)).Draw(t, "set"))
			NewDenseTable(bits, sets).Match(dst, &h)
			for i := range cs {
				want := int(h.Seed) < len(sets) && holdsDense(&h, sets[h.Seed][i])
				if got := dst[i/64]>>(i%64)&1 == 1; got != want {
					t.Fatalf("link %d: %v, want %v", i, got, want)
				}
			}
			return
		}
		if rapid.Bool().Draw(t, "some are held") {
			for _, c := range cs[:len(cs)/2] {
				_ = h.Or(c)
			}
		}
		NewTable(cs).Match(dst, &h)
		for i, c := range cs {
			if got, want := dst[i/64]>>(i%64)&1 == 1, holds(&h, c); got != want {
				t.Fatalf("link %d: %v, want %v", i, got, want)
			}
		}
		if n := len(cs) % 64; n != 0 && dst[len(cs)/64]>>n != 0 {
			t.Fatalf("bits after the last link: %x", dst)
		}
	})
}

// holds is the definition of a match, in big integers.
func holds(h *Header, c Codeword) bool {
	first, m, seed := 0, h.Bits, int64(h.Seed)
	switch h.Form {
	case Linear, Deep:
		return allOddIn(h, c)
	case Complement:
		return !allOddIn(h, c)
	}
	if h.Form == Staged {
		at := 0
		for ttl := 1; ; ttl++ {
			if at >= h.Bits || h.TTL == 0 {
				return false
			}
			nibble, code := number(h.Filter, at, 4), number(h.Filter, at+4, 8)
			if code >= 128 {
				code = 128 + (code-128)*4
			}
			if ttl == int(h.TTL) {
				first, m, seed = at+12, int(code), seed*16+nibble
				break
			}
			at += 12 + int(code)
		}
	}
	if m == 0 {
		return false
	}
	for j := range int(h.K) {
		half := value(c, seed*4096+int64(j/2))
		if j%2 == 0 {
			half.Rsh(half, 32)
		}
		half.And(half, big.NewInt(1<<32-1))
		half.Mul(half, big.NewInt(int64(m)))
		half.Rsh(half, 32)
		if number(h.Filter, first+int(half.Int64()), 1) == 0 {
			return false
		}
	}
	return true
}

// allOddIn reports whether the parities with all sections are odd.
func allOddIn(h *Header, c Codeword) bool {
	split := map[Form][][]int{
		Linear: {{1, 0}, {2, 384}, {2, 352}, {2, 320}, {2, 288}, {2, 256}, {2, 224}, {2, 192},
			{3, 288}, {3, 256}, {3, 224}, {3, 192}, {3, 160}, {4, 192}, {4, 160}, {4, 128}},
		Deep: {{5, 173}, {5, 165}, {5, 157}, {5, 148}, {6, 148}, {6, 142}, {6, 136}, {6, 130},
			{7, 144}, {7, 130}, {7, 123}, {7, 116}, {8, 126}, {8, 114}, {8, 102}, {8, 85}},
		Complement: {{2, 384}, {2, 352}, {2, 320}, {2, 288}, {2, 256}, {2, 224}, {2, 192}, {2, 160},
			{2, 128}, {2, 112}, {2, 96}, {2, 80}, {2, 64}, {2, 48}, {2, 32}, {2, 16}},
	}[h.Form][h.K]
	at := 0
	for p := range split[0] {
		length := h.Bits * split[1] / 1024
		if p == split[0]-1 {
			length = h.Bits - at
		}
		parity := uint(0)
		for b := range length {
			row := value(c, rowValue(h.Seed, p, b))
			parity ^= row.Bit(b%64) & uint(number(h.Filter, at+b, 1))
		}
		if parity == 0 {
			return false
		}
		at += length
	}
	return true
}

// rowValue returns the number of the value that contains a column of a row.
func rowValue(seed uint16, section, column int) int64 {
	return (int64(seed)+int64(section/4)*65536)*4096 + int64(section%4)*1024 + int64(column/64)
}

func holdsDense(h *Header, c BitString) bool {
	found := false
	for b := range h.Bits {
		if c[b/64]>>(b%64)&1 == 1 {
			found = true
			if number(h.Filter, b, 1) == 0 {
				return false
			}
		}
	}
	return found
}

// number reads n bits, the lowest first.
func number(filter []byte, at, n int) (v int64) {
	for i := range n {
		v |= int64(filter[(at+i)/8]>>((at+i)%8)&1) << i
	}
	return v
}

// value returns value i of the stream of c.
func value(c Codeword, i int64) *big.Int {
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	factor := func(h, step uint64) *big.Int {
		x := new(big.Int).Mul(new(big.Int).SetUint64(step), big.NewInt(i))
		return x.Mod(x.Add(x, new(big.Int).SetUint64(h)), word)
	}
	p := new(big.Int).Mul(factor(c.H1, 0x9e3779b97f4a7c15), factor(c.H2, 0xd6e8feb86659fd93))
	low := new(big.Int).Mod(p, word)
	return low.Xor(low, p.Rsh(p, 64))
}
