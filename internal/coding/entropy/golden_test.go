package entropy

import (
	"encoding/hex"
	"hash/fnv"
	"slices"
	"testing"
)

// pattern returns n bits: bit i is one if value i of a small generator (Knuth's MMIX) is below
// limit, of 2^32.
func pattern(n, limit uint64) Bits {
	b := NewBits(n)
	x := uint64(1)
	for i := range n {
		x = x*6364136223846793005 + 1442695040888963407
		if x>>32 < limit {
			b.set(i)
		}
	}
	return b
}

// TestGolden: payloads never change, so that old payloads can always be read.
func TestGolden(t *testing.T) {
	const one = 1 << 32
	for _, c := range []struct {
		name string
		strs []Bits
		want string
	}{
		{"no string", nil, ""},
		{"no bits", []Bits{{}}, "00"},
		{"no ones", []Bits{NewBits(1000)}, "00"},
		{"one bit", []Bits{pattern(1, one)}, "b6"},
		{"all ones", []Bits{pattern(100, one)}, "b6"},
		{"an eighth", []Bits{pattern(200, one/8)}, "51ae428b0e948c00282f50c7ad"},
		{"a hundredth", []Bits{pattern(3000, one/100)}, "1b3f76266b0f67e1e2841d6046568d8421445904c685a2db7c8fb39905b189646819"},
		{"a thousandth", []Bits{pattern(30000, one/1000)}, "081993a4a0ece509662ca5b495f0036f4693beedabaff5afea21e80a5828bb92b634849ace997a8a82b3aa88"},
		{"a half, and a part of a byte", []Bits{pattern(101, one/2)}, "af19946fd60aa86d7799a774cf65"},
		{"a third, inverted", []Bits{pattern(150, one/3*2)}, "edb348dc13020ed948427fb9a0b629b67127"},
		{"a tenth, inverted", []Bits{pattern(300, one/10*9)}, "d673e4e674f4051ab9cefaa3a0293e62af984f"},
		{"three", []Bits{pattern(64, one/5), pattern(9, 0), pattern(128, one/16)}, "65003cd3d8bc4bdb0834d4639e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := hex.DecodeString(c.want)
			if err != nil {
				t.Fatal(err)
			}
			if got := Append(nil, c.strs...); !slices.Equal(got, want) {
				t.Errorf("got %x, want %x", got, want)
			}
			var decoded []Bits
			for _, s := range c.strs {
				decoded = append(decoded, s.noise())
			}
			if err := Decode(want, decoded...); err != nil {
				t.Fatal(err)
			}
			for i, s := range c.strs {
				if !slices.Equal(decoded[i].Words, s.Words) {
					t.Errorf("string %d: got %x, want %x", i, decoded[i].Words, s.Words)
				}
			}
		})
	}
}

// TestGoldenSums: the same for long payloads, by their lengths and FNV-1a sums.
func TestGoldenSums(t *testing.T) {
	const one = 1 << 32
	for _, c := range []struct {
		limit  uint64
		length int
		sum    uint64
	}{
		{one / 100000, 13, 0x322e0de8d76bee04},
		{one / 1000, 777, 0x6892c60f41b1613c},
		{one / 100, 5484, 0x5a1287f671f971c4},
		{one / 16, 22102, 0x9e45a3a77a70a27},
		{one / 8, 35645, 0x396d0f31cedaa9d5},
		{one / 5, 47398, 0xa4af9824c3ea61c2},
		{one / 2, 65537, 0x42ffd5820377ec10},
		{one / 4 * 3, 53156, 0x5e5c8d171cbe4907},
		{one / 100 * 99, 5280, 0xef68ec5552673268},
	} {
		code := Append(nil, pattern(1<<19-3, c.limit))
		sum := fnv.New64a()
		sum.Write(code)
		if got := sum.Sum64(); len(code) != c.length || got != c.sum {
			t.Errorf("%d of 2^32: %d bytes, sum %#x; want %d and %#x", c.limit, len(code), got, c.length, c.sum)
		}
	}
}
