package main

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// input is what a filter is given for a key.
type input uint8

const (
	hashed  input = iota // a ready hash of 64 bits, or a ready digest
	bytes8               // a key of 8 bytes
	bytes32              // a key of 32 bytes
	inputs
)

var inputNames = [inputs]string{"hash", "8B", "32B"}

func (in input) String() string { return inputNames[in] }

func parseInput(s string) (input, error) {
	for in := range inputs {
		if in.String() == s {
			return in, nil
		}
	}
	return 0, fmt.Errorf("keys %q, want hash, 8B or 32B", s)
}

// absent is the number of the first key that is never added to a filter.
const absent = 1 << 40

// batch is the number of keys in one call of what takes many at once: what a
// stage of a pipeline hands on.
const batch = 1024

// keys are distinct keys in the form of one input, and room for answers.
type keys struct {
	n       int
	width   int    // bytes in a key
	bytes   []byte // n keys
	hashes  []uint64
	digests []umbel.Digest
	answers []bool
}

// makeKeys returns the keys numbered first to first+n-1.
func makeKeys(in input, first uint64, n int) *keys {
	k := &keys{n: n, answers: make([]bool, n)}
	switch in {
	case hashed:
		k.hashes = make([]uint64, n)
		k.digests = make([]umbel.Digest, n)
	case bytes8:
		k.width = 8
	case bytes32:
		k.width = 32
	}
	k.bytes = make([]byte, n*k.width)
	k.renumber(first)
	return k
}

// makeHashes returns keys that are hashes alone: the least memory.
func makeHashes(first uint64, n int) *keys {
	k := &keys{n: n, hashes: make([]uint64, n)}
	k.renumber(first)
	return k
}

// renumber makes k the keys that begin with another number.
func (k *keys) renumber(first uint64) {
	k.number(func(i uint64) uint64 { return first + i })
}

// scatter makes k some of the first so many keys, at least k's own number, in no
// order: filters that grow have the first and the last in different places.
func (k *keys) scatter(of uint64) {
	step := uint64(float64(of)*0.6180339887) | 1
	for gcd(step, of) != 1 {
		step += 2
	}
	k.number(func(i uint64) uint64 { return i * step % of })
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// number makes key i the one of number of(i).
func (k *keys) number(of func(i uint64) uint64) {
	for i := range k.hashes {
		k.hashes[i] = mix(of(uint64(i)))
	}
	for i := range k.digests {
		k.digests[i] = umbel.Digest{H1: k.hashes[i], H2: mix(^k.hashes[i])}
	}
	for i := 0; i < k.n && k.width > 0; i++ {
		v := mix(of(uint64(i)))
		for b := k.at(i); len(b) > 0; b = b[8:] {
			binary.LittleEndian.PutUint64(b, v)
			v = mix(v)
		}
	}
}

// at returns key i.
func (k *keys) at(i int) []byte { return k.bytes[i*k.width:][:k.width:k.width] }

// slice returns keys i to j-1, which share memory with k.
func (k *keys) slice(i, j int) *keys {
	s := &keys{n: j - i, width: k.width, bytes: k.bytes[i*k.width : j*k.width], answers: k.answers[i:j]}
	if k.hashes != nil {
		s.hashes = k.hashes[i:j]
	}
	if k.digests != nil {
		s.digests = k.digests[i:j]
	}
	return s
}

// yes counts the answers that are yes.
func (k *keys) yes() int {
	n := 0
	for _, a := range k.answers {
		if a {
			n++
		}
	}
	return n
}

// mix is a permutation of the numbers of 64 bits whose values look random: one
// step of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	z := (x + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
