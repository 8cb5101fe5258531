package main

import "github.com/umbel-filters/umbel"

//go:generate sh -c "cd ../../tools && GOWORK=off go run ./asm/bench -out ../research/bench/floor_amd64.s"

// prefetchLines prefetches the line of each of count digests. The array has the given
// number of lines of eight words, and count is at least 1.
//
//go:noescape
func prefetchLines(words *uint64, lines uint64, ds *umbel.Digest, count int)
