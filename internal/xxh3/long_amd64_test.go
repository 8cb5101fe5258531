//go:build amd64 && !purego && !race

package xxh3

import "testing"

// Processors without the kernel compute the same.
func TestSum128Plain(t *testing.T) {
	defer func(have bool) { haveKernel = have }(haveKernel)
	haveKernel = false
	TestSum128(t)
}
