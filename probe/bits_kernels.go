//go:build amd64 && !purego

package probe

import "github.com/klauspost/cpuid/v2"

//go:generate sh -c "cd _gen && GOWORK=off go run . -out ../bits_amd64.s"

// haveKernels tells whether the machine has the instructions of bits_amd64.s.
var haveKernels = cpuid.CPU.Supports(cpuid.BMI2)

// hasBits returns the and of the k bits of a digest, in bit 0. If one of the first
// few is zero it does not look at the others.
//
//go:noescape
func hasBits(t *table, h1, h2, k uint64) uint64

// addBits sets the k bits of a digest and returns how many were set before.
//
//go:noescape
func addBits(t *table, h1, h2, k uint64) uint64

// prefetchBits asks for the lines of k bits of each of count digests, from where
// from says.
//
//go:noescape
func prefetchBits(t *table, ds *uint64, count int, from *origin, k uint64)
