package main

import (
	"math/bits"
	"slices"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// targetRate is the false-positive rate of all methods that can choose it.
const targetRate = 0.02

// set is a set of keys. The keys of a set with the next first number are the same except for one.
type set struct {
	keys    []string
	digests []umbel.Digest
}

func newSet(first, n int) *set {
	s := &set{make([]string, n), make([]umbel.Digest, n)}
	for i := range n {
		s.keys[i] = keyNumber(first + i)
		s.digests[i] = digest(s.keys[i])
	}
	return s
}

// keyNumber returns a key: the name of a host with 13 random letters and digits.
func keyNumber(i int) string {
	// A bijection that spreads consecutive numbers: splitmix64 (Steele, Lea and Flood 2014).
	x := uint64(i) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return strconv.FormatUint(x^x>>31, 36) + ".example.org"
}

func digest(key string) umbel.Digest { return umbel.Hasher{}.HashString(key) }

// span returns the number of values of a hash with which a list of hashes has the target rate.
func (s *set) span() uint64 { return uint64(float64(len(s.keys)) / targetRate) }

// hash returns the hash of a digest below span.
func hash(d umbel.Digest, span uint64) uint64 {
	h, _ := bits.Mul64(d.H1, span)
	return h
}

// hashes returns the hashes of the keys below span, sorted, without duplicates.
func (s *set) hashes(span uint64) []uint64 {
	hs := make([]uint64, len(s.digests))
	for i, d := range s.digests {
		hs[i] = hash(d, span)
	}
	slices.Sort(hs)
	return slices.Compact(hs)
}

// bloom returns a filter of m cells with the keys.
func (s *set) bloom(m uint64, k int) (*bloom.Filter, error) {
	f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
	if err == nil {
		f.AddAll(nil, s.digests)
	}
	return f, err
}

// sparse returns the filter that umbel publishes: with k = 1 and the target rate.
func (s *set) sparse() (*bloom.Filter, error) { return s.bloom(s.span(), 1) }
