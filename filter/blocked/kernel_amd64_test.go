//go:build amd64 && !purego && !race

package blocked

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/processor"
)

// TestKernelsUseCheckedFeatures: every instruction set that a kernel uses is checked before the
// kernel runs. MMX+ is the generator's name for prefetching, which all these machines support.
func TestKernelsUseCheckedFeatures(t *testing.T) {
	text, err := os.ReadFile("kernel_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]processor.Features{
		"has": kernelNeeds, "add": kernelNeeds, "hasKeys": kernelNeeds, "addKeys": kernelNeeds, "addKeysChanged": kernelNeeds,
		"prefetchKeys": prefetchNeeds,
	}
	names := map[string]processor.Features{
		"BMI2": processor.BMI2, "AVX512F": processor.AVX512F, "AVX512DQ": processor.AVX512DQ, "AVX512BW": processor.AVX512BW, "AVX512VBMI": processor.AVX512VBMI,
	}
	found := regexp.MustCompile(`(?m)^// func (\w+)\(.*\n// Requires: (.*)\n`).FindAllStringSubmatch(string(text), -1)
	if got, want := len(found), strings.Count(string(text), "\nTEXT "); got != want || got != len(checked) {
		t.Errorf("%d of %d functions declare their instruction sets, want %d of as many", got, want, len(checked))
	}
	for _, f := range found {
		for need := range strings.SplitSeq(f[2], ", ") {
			if need != "MMX+" && checked[f[1]]&names[need] == 0 {
				t.Errorf("%s needs %s, which is not checked", f[1], need)
			}
		}
	}
}
