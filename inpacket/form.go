package inpacket

// Form is how a header's filter holds links. Values are those on the wire and are
// never given another meaning.
type Form uint8

const (
	// Single is one Bloom filter of any length m: K positions a link, by range
	// mapping, from the link's codeword and the header's seed. Links are added by OR.
	Single Form = iota
	// Staged is one Bloom filter for each hop, the one for the last hop first, each
	// with a seed and a length of its own: a router asks that of the TTL it sees.
	Staged
	// Folded is Single with the seed 0 and a length that divides [FoldBase], so that a
	// router may keep the positions of a link at that length and divide them. Links
	// are added by OR.
	Folded
	// Linear is up to four planes of bits, solved from the links of the tree and
	// those next to it: a link is held if the parity of its row and each plane is odd.
	// It is the shortest form for trees of more than a few links.
	Linear
	// Dense is a Bloom filter of stored codewords, arrays of bits of which the first
	// m are compared: LIPSIN's, and the truncated ones of Heszberger et al. The seed
	// says which of a link's stored codewords.
	Dense
)

// FoldBase is the length at which positions of the form [Folded] are kept: no
// smaller number has as many divisors, 120.
const FoldBase = 55440
