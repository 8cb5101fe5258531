//go:build amd64 && !purego && !race

package blocked

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// Every instruction set that a kernel uses is checked before it runs. MMX+ is the generator's name for
// prefetching, which all these machines have.
func TestKernelsNeedNoMoreThanIsAskedFor(t *testing.T) {
	text, err := os.ReadFile("kernel_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string][]cpuid.FeatureID{
		"has": kernelNeeds, "add": kernelNeeds, "hasKeys": kernelNeeds, "addKeys": kernelNeeds, "addKeysChanged": kernelNeeds,
		"prefetchKeys": prefetchNeeds,
	}
	found := regexp.MustCompile(`(?m)^// func (\w+)\(.*\n// Requires: (.*)\n`).FindAllStringSubmatch(string(text), -1)
	if got, want := len(found), strings.Count(string(text), "\nTEXT "); got != want || got != len(asked) {
		t.Errorf("%d of %d functions tell what they need, want %d of as many", got, want, len(asked))
	}
	for _, f := range found {
		allowed := []string{"MMX+"}
		for _, feature := range asked[f[1]] {
			allowed = append(allowed, feature.String())
		}
		for need := range strings.SplitSeq(f[2], ", ") {
			if !slices.Contains(allowed, need) {
				t.Errorf("%s needs %s, want no more than %v", f[1], need, allowed)
			}
		}
	}
}
