package wire

import "github.com/umbel-filters/umbel"

// Bytes of the fields whose length is fixed.
const (
	headBytes  = 8 + 4              // of a container: magic and checksum
	stateBytes = 1 + 17 + 1 + 1 + 2 // of a state: lengths, hasher, numbers of params, planes, parts
	paramBytes = 1 + 1 + 8
	planeBytes = 1 + 8
)

// Size returns the number of bytes of the canonical container of s. No way to
// write it makes more of it.
func Size(s umbel.State) uint64 { return size(s, canonical) }

// size returns the number of bytes of the container of s with its blocks in the
// coding chosen.
func size(s umbel.State, c coding) uint64 { return headBytes + stateSize(s, c) }

func stateSize(s umbel.State, c coding) uint64 {
	n := stateBytes + uint64(len(s.Kind))
	for _, p := range s.Params {
		n += paramBytes + uint64(len(p.Name))
	}
	for _, p := range s.Arrays {
		n += planeBytes
		for b := range blocks(p) {
			n++
			if c(b) == raw {
				n += b.Bytes()
			}
		}
	}
	for _, p := range s.Parts {
		n += stateSize(p, c)
	}
	return n
}
