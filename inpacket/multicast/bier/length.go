package bier

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// ErrTooLarge says that a network has more nodes, links or hops than packets of
// the scheme can name.
var ErrTooLarge = errors.New("network too large")

// Options are choices that a domain's routers have in common.
type Options struct {
	// MaxBSL is the longest bit string that the routers know, a power of two from 64
	// to 4096; zero is 4096, the longest there is. Many in use end at 256.
	MaxBSL int

	// Metric is what BIER's paths are short by; that of the trees they are compared
	// with. BIER-TE has no paths of its own.
	Metric tree.Metric
}

// longest returns the longest bit string that may be used.
func (o Options) longest() (int, error) {
	switch m := o.MaxBSL; {
	case m == 0:
		return MaxBSL, nil
	case m < MinBSL || m > MaxBSL || m&(m-1) != 0:
		return 0, fmt.Errorf("bier: bit strings of up to %d bits, want a power of two from %d to %d", m, MinBSL, MaxBSL)
	default:
		return m, nil
	}
}

// fitting returns the length of the shortest bit string that has so many bits.
func fitting(n int) int {
	return max(MinBSL, 1<<bits.Len(uint(max(1, n)-1)))
}

// Subdomains keep apart the tables of BIER and BIER-TE, which one router may have
// both of: RFC 9262, section 4.3.
const (
	plain      = 0
	engineered = 1
)

// bift returns the id of a table, made of the length of the bit strings, the
// subdomain and the set: draft-ietf-bier-non-mpls-bift-encoding.
func bift(length, subdomain, set int) uint32 {
	return code(length)<<16 | uint32(subdomain)<<8 | uint32(set)
}

// maxSets is how many sets a table's id can name.
const maxSets = 1 << 8

// maxTTL is what headers begin with; a path may have as many hops.
const maxTTL = 255
