package umbel_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

func TestSeedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "seed"))
		seed := umbel.SeedFrom(b)
		if seed.Bytes() != b {
			t.Fatalf("%x came back as %x", b, seed.Bytes())
		}
		if got, err := umbel.ParseSeed(hex.EncodeToString(b[:])); got != seed || err != nil {
			t.Fatalf("ParseSeed = %x, %v, want %x", got.Bytes(), err, b)
		}
	})
}

func TestParseSeedFillsWithZeros(t *testing.T) {
	for in, want := range map[string]umbel.Seed{
		"":                   {},
		"01":                 fixture.Seed(1, 0),
		"0102":               fixture.Seed(0x0201, 0),
		"0000000000000000ff": fixture.Seed(0, 255),
	} {
		if got, err := umbel.ParseSeed(in); got != want || err != nil {
			t.Errorf("ParseSeed(%q) = %x, %v, want %x", in, got.Bytes(), err, want.Bytes())
		}
	}
}

// The text of a seed that is refused may be a secret with a typing error.
func TestParseSeedErrors(t *testing.T) {
	for _, in := range []string{strings.Repeat("0", 33), strings.Repeat("c0ffee", 1<<16), "c0ffee0", "c0ffeeg0"} {
		seed, err := umbel.ParseSeed(in)
		wantError(t, err, umbel.ErrGoal, "hexadecimal digits")
		if seed != (umbel.Seed{}) {
			t.Errorf("seed %x with an error", seed.Bytes())
		}
		if err != nil && strings.Contains(err.Error(), "c0ffee") {
			t.Errorf("error contains the seed: %v", err)
		}
	}
}

// Neither a seed nor a hasher prints the bytes of a seed, with any verb or encoder.
func TestSeedsAreNotPrinted(t *testing.T) {
	seed := umbel.SeedFrom([16]byte([]byte("SECRTabcdefgXYZ!")))
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: seed}
	goal := umbel.Goal{Keys: 1, FPRate: 0.5, Hasher: h}
	state := umbel.State{Kind: "bloom", Hasher: h, Parts: []umbel.State{{Kind: "bloom", Hasher: h}}}
	hidden := struct {
		h    umbel.Hasher // fmt cannot call its methods
		seed *umbel.Seed
	}{h, &seed}
	var log bytes.Buffer
	for _, v := range []any{seed, &seed, h, &h, goal, &goal, state, []umbel.Hasher{h}, map[umbel.Hasher]int{h: 1}, hidden, &hidden, []any{hidden}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%20v", "%p", "%w", "%t", "%U"} {
			fmt.Fprintf(&log, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "v", v)
		b, err := json.Marshal(v)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) { // a State has no JSON
			t.Errorf("%T: %v", v, err)
		}
		fmt.Fprintf(&log, "%s %v\n", b, err)
	}
	for _, e := range []error{
		umbel.Hasher{Alg: umbel.MD5, Seed: seed}.Check(), umbel.Goal{Keys: 1, FPRate: 0.5, Hasher: umbel.Hasher{Alg: umbel.MD5, Seed: seed}}.Check(),
		umbel.State{Kind: "bloom", Hasher: h}.CheckMatch(umbel.State{Kind: "bloom"}),
		umbel.State{Kind: "bloom", Hasher: h}.CheckMatch(umbel.State{Kind: "bloom", Hasher: umbel.Hasher{Alg: umbel.SipHash}}),
	} {
		fmt.Fprintf(&log, "%v %+v %#v\n", e, e, e)
	}
	if found := fixture.FindSeed(log.String(), seed); found != "" {
		t.Errorf("a seed is printed, as %s, in:\n%s", found, log.String())
	}
}

// FuzzParseSeed: an accepted text consists of the first bytes of the seed in hexadecimal.
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
