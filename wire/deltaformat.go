package wire

// A delta says what a state is, the result, to a reader who has another, the base
// (spec/delta.md is the full text). All integers are little-endian; "var" is an unsigned LEB128 of at most 10 bytes, in
// its shortest form.
//
//	delta    magic 8 | base's ID 32 | result's ID 32 | bytes 8 | kind: length 1, bytes
//	         | change | CRC-32C of all before it, 4
//	magic    0x89 "umdlt" 0x0a 0x01, the last byte being the version
//	change   params | number of planes 1 | planes | number of parts var | parts
//	params   n 1: 0 to 254: those of the base, but for n of them: index 1, value 8 each
//	              255: number 1 | params, as in a container
//	plane    source | blocks, or units if it refines
//	source   form 1: 0 new:    width 1 | cells 8
//	                 1 same:   index 1
//	                 2 fold:   index 1 | r var | group var
//	                 3 unfold: index 1 | u var | group var
//	                 4 refine: index 1 | u var | group var
//	block    coding 1: as in a container, or one of
//	             128 kept
//	             129 kept, run:      n var
//	             130 given:          length of payload var | payload
//	             131 given, run:     n var | length of payload var | payload
//	             132 flipped:        length of payload var | payload
//	             133 flipped, run:   n var | length of payload var | payload
//	unit     length of payload var | payload
//	part     origin var: 0: a state, as in a container
//	                     i+1: a change, of part i of the base
//
// Bytes is the memory of all planes of the result, kind that of base and result; both
// have the same hasher. A change is to a state of the base, and tells one of the result
// of the same kind and hasher. Planes and parts have their place in the result by their
// order; those of the base stand where index and origin say, and may be used more than
// once or not at all.
//
// A plane that is the same, a fold or an unfold has a prediction, made of plane index of
// the base: itself, or its fold by r or its unfold by u in groups of so many cells
// (cells.Array.Fold). It has the prediction's width and number of cells. A kept block is
// as predicted. A given one is coded by what is predicted: internal/model,
// Coder.AppendDelta. Of a flipped one the payload has the positions of the bits that
// aren't as predicted: internal/entropy, AppendRice. A run is n blocks, 2 or more, handled
// as one; with a payload at most 64.
//
// A plane of bits that refines plane index of the base has it for its fold by u. It is
// coded in units, by what the fold doesn't say: Coder.AppendRefinement. So many cells of
// the fold as RefinementCells(u) gives make a unit, the last may have fewer. u is 2 to
// 4096, and has no prime factor above 61.
//
// Unfolding makes more of less. So that a short message can't make much of nothing, each
// block of a plane that unfolds takes a byte, as each unit does: there are no runs in it.

const (
	deltaMagic = "\x89umdlt\n\x01"
	// deltaHead is the length of a delta up to the length of its kind.
	deltaHead = len(deltaMagic) + 2*len(ID{}) + 8
)

// Forms of the source of a plane. Numbers are never reused.
const (
	formNew    = 0
	formSame   = 1
	formFold   = 2
	formUnfold = 3
	formRefine = 4
)

// Bounds of the factors of planes that refine: a unit has a string for each of the
// prime factors' sum, and takes memory in proportion to the factor.
const (
	maxRefined = 4096
	maxPrime   = 61
)

// Codings of the blocks of planes with a prediction, besides those of containers.
const (
	kept    = 128
	keptRun = 129
	given   = 130 // and 131
	flipped = 132 // and 133
)

// allParams stands for a number of params that changed.
const allParams = 255
