package umbel_test

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"pgregory.net/rapid"
)

func TestDigestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := umbel.Digest{H1: rapid.Uint64().Draw(t, "H1"), H2: rapid.Uint64().Draw(t, "H2")}
		for _, s := range []string{d.String(), strings.ToUpper(d.String())} {
			if got, err := umbel.ParseDigest(s); got != d || err != nil {
				t.Fatalf("ParseDigest(%q) = %v, %v, want %v", s, got, err, d)
			}
		}
	})
	d := umbel.Digest{H1: 0x0123, H2: 1 << 63}
	if got, want := d.String(), "00000000000001238000000000000000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseDigestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `"" has 0 characters, want 32`},
		{strings.Repeat("0", 31), "has 31 characters, want 32"},
		{strings.Repeat("0", 33), "has 33 characters, want 32"},
		{strings.Repeat("x", 1<<20), "…"},
		{strings.Repeat("0", 31) + "g", "'g'"},
		{strings.Repeat(" ", 32), "invalid byte"},
		{"0x" + strings.Repeat("0", 30), "'x'"},
	} {
		d, err := umbel.ParseDigest(c.in)
		wantError(t, err, nil, c.want)
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("error has %d characters", len(err.Error()))
		}
		if d != (umbel.Digest{}) {
			t.Errorf("digest %v with an error", d)
		}
	}
}

// FuzzParseDigest: ParseDigest accepts digests in hexadecimal and nothing else.
func FuzzParseDigest(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		d, err := umbel.ParseDigest(s)
		if err == nil && d.String() != strings.ToLower(s) {
			t.Errorf("%q was read as %v", s, d)
		}
	})
}
