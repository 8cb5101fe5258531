// Package distinct counts the different digests of a stream: exactly while they fit into memory, and
// then with a sketch.
package distinct

import "github.com/umbel-filters/umbel"

// Set is a set of digests in the order in which they were added first. The zero Set is empty.
type Set struct {
	list  []umbel.Digest
	table []uint32 // hash table with linear probing: index in list + 1, 0 for none
}

// MaxDigests is the largest number of digests of a Set.
const MaxDigests = 1<<32 - 2

// Add adds a digest and returns its index in Digests. It panics beyond [MaxDigests].
func (s *Set) Add(d umbel.Digest) uint32 {
	if len(s.list) >= len(s.table)/4*3 {
		s.grow()
	}
	mask := uint64(len(s.table) - 1)
	for at := mix(d) & mask; ; at = (at + 1) & mask {
		switch e := s.table[at]; {
		case e == 0:
			if uint64(len(s.list)) == MaxDigests {
				panic("distinct: the set has its largest number of digests")
			}
			s.list = append(s.list, d)
			s.table[at] = uint32(len(s.list))
			return uint32(len(s.list) - 1)
		case s.list[e-1] == d:
			return e - 1
		}
	}
}

// Reserve makes room for n different digests, at most [MaxDigests], in a Set that is empty. The table is then as large
// as if they had been added.
func (s *Set) Reserve(n uint64) {
	s.list = make([]umbel.Digest, 0, n+n/64)
	s.table = make([]uint32, tableFor(n))
}

// leastTable is the length of the first table. Each table is twice as long as the last one, and filled to three quarters.
const leastTable = 1024

// tableFor returns the length of the table of n digests.
func tableFor(n uint64) uint64 {
	t := uint64(leastTable)
	for n > t/4*3 {
		t *= 2
	}
	return t
}

// Capacity returns the largest number of digests for which a Set needs at most that many bytes.
func Capacity(bytes uint64) uint64 {
	var most uint64
	for t := uint64(leastTable); 4*t < bytes; t *= 2 {
		if n := min(t/4*3, (bytes-4*t)/16); tableFor(n) == t {
			most = n
		}
	}
	return min(most, MaxDigests)
}

// grow doubles the table.
func (s *Set) grow() {
	s.table = make([]uint32, max(2*len(s.table), leastTable))
	mask := uint64(len(s.table) - 1)
	for i, d := range s.list {
		at := mix(d) & mask
		for s.table[at] != 0 {
			at = (at + 1) & mask
		}
		s.table[at] = uint32(i + 1)
	}
}

// Digests returns the digests. They are valid until the next Add.
func (s *Set) Digests() []umbel.Digest { return s.list }

// Bytes returns the memory that the digests and the table need.
func (s *Set) Bytes() uint64 { return uint64(len(s.list))*16 + uint64(len(s.table))*4 }

// mix returns a hash of a digest, which may have been chosen by the user (hash "caller").
func mix(d umbel.Digest) uint64 {
	h := d.H1 ^ d.H2*0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
