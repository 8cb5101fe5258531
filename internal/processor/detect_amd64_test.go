package processor

import (
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// Each feature is there if and only if the library for all of them finds it.
func TestFeatures(t *testing.T) {
	for f, id := range map[Features]cpuid.FeatureID{
		POPCNT: cpuid.POPCNT, LZCNT: cpuid.LZCNT, BMI1: cpuid.BMI1, BMI2: cpuid.BMI2, AVX2: cpuid.AVX2, AVX512F: cpuid.AVX512F, AVX512DQ: cpuid.AVX512DQ,
		AVX512BW: cpuid.AVX512BW, AVX512VL: cpuid.AVX512VL, AVX512VBMI: cpuid.AVX512VBMI,
	} {
		if got, want := Have(f), cpuid.CPU.Has(id); got != want {
			t.Errorf("%v: %t, want %t", id, got, want)
		}
	}
	t.Logf("the library finds %d bytes of cache, and the instruction %d", cpuid.CPU.Cache.L2, reportedL2)
}
