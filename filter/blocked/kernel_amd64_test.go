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

// TestKernelsUseCheckedFeatures: every instruction set that a kernel uses is checked before the
// kernel runs. MMX+ is the generator's name for prefetching, which all these machines support.
func TestKernelsUseCheckedFeatures(t *testing.T) {
	text, err := os.ReadFile("kernel_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string][]cpuid.FeatureID{
		"has": kernelNeeds, "add": kernelNeeds, "hasKeys": kernelNeeds, "addKeys": kernelNeeds, "addKeysChanged": kernelNeeds,
		"prefetchKeys": prefetchNeeds,
	}
	found := regexp.MustCompile(`(?m)^// func (\w+)\(.*\n// Requires: (.*)\n`).FindAllStringSubmatch(string(text), -1)
	if got, want := len(found), strings.Count(string(text), "\nTEXT "); got != want || got != len(checked) {
		t.Errorf("%d of %d functions declare their instruction sets, want %d of as many", got, want, len(checked))
	}
	for _, f := range found {
		allowed := []string{"MMX+"}
		for _, feature := range checked[f[1]] {
			allowed = append(allowed, feature.String())
		}
		for need := range strings.SplitSeq(f[2], ", ") {
			if !slices.Contains(allowed, need) {
				t.Errorf("%s needs %s, want no more than %v", f[1], need, allowed)
			}
		}
	}
}
