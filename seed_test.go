package umbel_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"pgregory.net/rapid"
)

func TestSeedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "seed"))
		seed := umbel.SeedFrom(b)
		if seed.Bytes() != b {
			t.Fatalf("%x came back as %x", b, seed.Bytes())
		}
		if got, err := umbel.ParseSeed(hex.EncodeToString(b[:])); got != seed || err != nil {
			t.Fatalf("ParseSeed = %v, %v, want %v", got, err, seed)
		}
	})
}

func TestParseSeedFillsWithZeros(t *testing.T) {
	for in, want := range map[string]umbel.Seed{
		"":                   {},
		"01":                 {Lo: 1},
		"0102":               {Lo: 0x0201},
		"0000000000000000ff": {Hi: 255},
	} {
		if got, err := umbel.ParseSeed(in); got != want || err != nil {
			t.Errorf("ParseSeed(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestParseSeedErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{strings.Repeat("0", 33), "has 33 characters, want at most 32"},
		{strings.Repeat("0", 1<<20), "…"},
		{"0", "odd length"},
		{"0g", "'g'"},
	} {
		seed, err := umbel.ParseSeed(c.in)
		wantError(t, err, nil, c.want)
		if seed != (umbel.Seed{}) {
			t.Errorf("seed %v beside an error", seed)
		}
	}
}

// What is accepted are the first bytes of the seed in hexadecimal.
func FuzzParseSeed(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		seed, err := umbel.ParseSeed(s)
		if err != nil {
			return
		}
		b := seed.Bytes()
		if all := hex.EncodeToString(b[:]); all != strings.ToLower(s)+strings.Repeat("0", 32-len(s)) {
			t.Errorf("%q was read as %s", s, all)
		}
	})
}
