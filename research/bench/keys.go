package main

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/umbel-filters/umbel"
	"github.com/zeebo/xxh3"
)

// input is the form in which a filter receives a key.
type input uint8

const (
	hashed  input = iota // a precomputed 64-bit hash or digest
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

// batch is the number of keys of one batch call, as between two stages of a pipeline.
const batch = 1024

// keys contains distinct keys in the form of one input, and memory for results.
type keys struct {
	n       int
	width   int      // bytes per key
	bytes   []byte   // n keys
	slices  [][]byte // of bytes, by key
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
	if k.width > 0 {
		k.slices = make([][]byte, n)
		for i := range k.slices {
			k.slices[i] = k.at(i)
		}
	}
	k.renumber(first)
	return k
}

// makeHashes returns keys that consist only of hashes, which takes the least memory.
func makeHashes(first uint64, n int) *keys {
	k := &keys{n: n, hashes: make([]uint64, n)}
	k.renumber(first)
	return k
}

// renumber replaces k by the keys numbered from first on.
func (k *keys) renumber(first uint64) {
	k.number(func(i uint64) uint64 { return first + i })
}

// scatter replaces k by keys of the first n in a scattered order, because growing filters
// keep early and late keys in different layers. n is at least the number of keys of k.
func (k *keys) scatter(n uint64) {
	step := uint64(float64(n)*0.6180339887) | 1
	for gcd(step, n) != 1 {
		step += 2
	}
	k.number(func(i uint64) uint64 { return i * step % n })
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// number replaces key i by the key with number of(i).
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

// slice returns keys i to j-1. They share memory with k.
func (k *keys) slice(i, j int) *keys {
	s := &keys{n: j - i, width: k.width, bytes: k.bytes[i*k.width : j*k.width], answers: k.answers[i:j]}
	if k.hashes != nil {
		s.hashes = k.hashes[i:j]
	}
	if k.slices != nil {
		s.slices = k.slices[i:j]
	}
	if k.digests != nil {
		s.digests = k.digests[i:j]
	}
	return s
}

// positives returns the number of positive results.
func (k *keys) positives() int {
	n := 0
	for _, a := range k.answers {
		if a {
			n++
		}
	}
	return n
}

// mix is a permutation of the 64-bit integers that looks random: one step of SplitMix64
// (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	z := (x + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hashes contains the hash functions that are measured.
var hashes = []struct {
	name string
	sum  func(*keys) (x uint64)
}{
	{"XXH3-128, umbel's default", func(k *keys) uint64 { return digestSum(umbel.Hasher{}, k) }},
	{"XXH64 by umbel", func(k *keys) uint64 { return digestSum(umbel.Hasher{Alg: umbel.XXH64}, k) }},
	{"SipHash-128 by umbel", func(k *keys) uint64 { return digestSum(umbel.Hasher{Alg: umbel.SipHash}, k) }},
	{"XXH3-64, zeebo", func(k *keys) (x uint64) {
		eachKey(k, func(key []byte) { x ^= xxh3.Hash(key) })
		return x
	}},
	{"XXH64, cespare", func(k *keys) (x uint64) {
		eachKey(k, func(key []byte) { x ^= xxhash.Sum64(key) })
		return x
	}},
}

func digestSum(h umbel.Hasher, k *keys) (x uint64) {
	eachKey(k, func(key []byte) {
		d := h.HashBytes(key)
		x ^= d.H1 ^ d.H2
	})
	return x
}

// runHashes measures the cost of hashing a key.
func runHashes(o options, p *progress) (*Table, error) {
	p.scope = "hash"
	t := &Table{Section: "hash", Path: "hash", Title: "Hashing a key", Unit: "ns/key"}
	const n = 100_000
	for _, h := range hashes {
		if o.only.MatchString("hash/" + h.name) {
			t.Rows = append(t.Rows, &Row{Name: h.name})
		}
	}
	var tasks []task
	for _, in := range []input{bytes8, bytes32} {
		t.Columns = append(t.Columns, in.String())
		k := makeKeys(in, 0, n)
		for _, h := range hashes {
			if row := t.row(h.name); row != nil {
				tasks = append(tasks, task{row, in.String(), func(int) (float64, error) {
					return perKey(timed(func() { sink.Add(int64(h.sum(k))) }), n), nil
				}})
			}
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	return t, interleave(o.rounds, max(1, o.timedNear/n), p, tasks, func() {})
}
