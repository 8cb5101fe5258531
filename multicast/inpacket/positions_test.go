package inpacket

import (
	"math/big"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// TestPositionsAndRows: positions and rows consist of the values in the definition.
func TestPositionsAndRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCodeword(t)
		seed, m := rapid.Uint32Range(0, 1<<20-1).Draw(t, "seed"), rapid.IntRange(1, 1<<16).Draw(t, "m")
		k := rapid.Uint8Range(0, 15).Draw(t, "K")
		got := c.AppendPositions([]uint16{7}, seed, k, m)
		if len(got) != int(k)+1 || got[0] != 7 {
			t.Fatalf("%d positions after what was there: %v", k, got)
		}
		for j, p := range got[1:] {
			half := value(c, int64(seed)*4096+int64(j/2))
			half.Rsh(half, uint(32*(1-j%2))).And(half, big.NewInt(1<<32-1))
			if want := half.Mul(half, big.NewInt(int64(m))).Rsh(half, 32).Int64(); int64(p) != want {
				t.Fatalf("position %d below %d is %d, want %d", j, m, p, want)
			}
		}
		section, columns := rapid.IntRange(0, maxSections-1).Draw(t, "section"), rapid.IntRange(0, 300).Draw(t, "columns")
		row := c.AppendRow(nil, uint16(seed), section, columns)
		if len(row) != (columns+63)/64 {
			t.Fatalf("%d words for %d columns", len(row), columns)
		}
		for b := range len(row) * 64 {
			want := uint(0)
			if b < columns {
				want = value(c, rowValue(uint16(seed), section, b)).Bit(b % 64)
			}
			if got := uint(row[b/64] >> (b % 64) & 1); got != want {
				t.Fatalf("column %d of %d is %d, want %d", b, columns, got, want)
			}
		}
	})
}

// TestRowsAgreeWithMatch: Match of forms with sections tests what senders solve for: odd parity of
// the row in each section, or that it isn't.
func TestRowsAgreeWithMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeaderOf(t, rapid.SampledFrom(sectioned).Draw(t, "form"))
		c := drawCodeword(t)
		sections, lengths := Sections(h.Form, h.K, h.Bits)
		want, at := uint64(1), 0
		for p, length := range lengths[:sections] {
			sum := uint64(0)
			for w, v := range c.AppendRow(nil, h.Seed, p, length) {
				sum ^= v & sectionWord(h.Filter, at+w*64, at+length)
			}
			want &= uint64(bits.OnesCount64(sum))
			at += length
		}
		if h.Form == Complement {
			want = ^want
		}
		var got [1]uint64
		NewTable([]Codeword{c}).Match(got[:], &h)
		if got[0] != want&1 {
			t.Fatalf("held: %d, want %d", got[0], want&1)
		}
	})
}
