//go:build !amd64

package main

import (
	"math/bits"
	"unsafe"

	"github.com/umbel-filters/umbel"
)

// loaded receives the loads of prefetchLines, so that the compiler keeps them.
var loaded uint64

// prefetchLines loads one word of each line, because Go has no prefetch.
func prefetchLines(words *uint64, lines uint64, ds *umbel.Digest, count int) {
	all := unsafe.Slice(words, lines*lineWords)
	for _, d := range unsafe.Slice(ds, count) {
		line, _ := bits.Mul64(d.H1, lines)
		loaded |= all[line*lineWords]
	}
}
