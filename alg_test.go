package umbel_test

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
)

// The numbers and the names are part of the container format.
func TestAlgNumbersAndNames(t *testing.T) {
	for i, name := range []string{"xxh3", "siphash", "xxh64", "murmur64a", "md5", "caller", "", "murmur3", "sparkmurmur3"} {
		if name == "" {
			continue // a number that is never used
		}
		alg, err := umbel.ParseAlg(name)
		if err != nil || alg != umbel.Alg(i) || alg.String() != name {
			t.Errorf("ParseAlg(%q) = %d %v, %v, want %d", name, uint8(alg), alg, err, i)
		}
	}
	if got := umbel.Alg(6).String(); got != "alg(6)" {
		t.Errorf("Alg(6) prints as %q", got)
	}
}

func TestParseAlgErrors(t *testing.T) {
	for _, name := range []string{"", "XXH3", "murmur128", "alg(6)", strings.Repeat("x", 1000)} {
		_, err := umbel.ParseAlg(name)
		wantError(t, err, nil, "one of xxh3, siphash, xxh64, murmur64a, md5, caller, murmur3, sparkmurmur3")
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("error has %d characters", len(err.Error()))
		}
	}
}
