package main

import "github.com/umbel-filters/umbel"

//go:generate sh -c "cd _gen && GOWORK=off go run . -out ../floor_amd64.s"

// prefetchLines asks for the line of each of count digests, at least 1, among so
// many lines of eight words.
//
//go:noescape
func prefetchLines(words *uint64, lines uint64, ds *umbel.Digest, count int)
