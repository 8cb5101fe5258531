//go:build !amd64

package main

import (
	"math/bits"
	"unsafe"

	"github.com/umbel-filters/umbel"
)

// loaded keeps the loads of prefetchLines from being left out.
var loaded uint64

// prefetchLines loads from each line: Go has no word for asking and not waiting.
func prefetchLines(words *uint64, lines uint64, ds *umbel.Digest, count int) {
	all := unsafe.Slice(words, lines*lineWords)
	for _, d := range unsafe.Slice(ds, count) {
		line, _ := bits.Mul64(d.H1, lines)
		loaded |= all[line*lineWords]
	}
}
