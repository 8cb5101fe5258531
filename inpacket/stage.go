package inpacket

// A Staged filter is a row of stages, the one for TTL 1 first. Each begins with a
// head: 4 bits that, with the header's seed, make the seed of the stage, and the 8
// bits of a length code, low bits first. Its bits follow.
const (
	StageHeadBits = nibbleBits + 8    // how many bits the head of a stage has
	MaxStageBits  = 128 + (255-128)*4 // how many a stage may have behind it
	nibbleBits    = 4
)

// StageBits returns the number of bits of a stage with a length code: the code
// itself below 128, and 128 + 4(code - 128) from there, at most MaxStageBits.
func StageBits(code uint8) int {
	if code < 128 {
		return int(code)
	}
	return 128 + 4*(int(code)-128)
}

// StageCode returns the smallest length code of a stage with at least so many bits,
// and whether there is one.
func StageCode(bits int) (code uint8, ok bool) {
	switch {
	case bits < 0 || bits > MaxStageBits:
		return 0, false
	case bits < 128:
		return uint8(bits), true
	default:
		return uint8(128 + (bits-128+3)/4), true
	}
}

// StageSeed returns the seed of a stage: the header's, and below it the 4 bits of
// the stage's head.
func StageSeed(seed uint16, nibble uint8) uint32 { return uint32(seed)<<nibbleBits | uint32(nibble&15) }

// stage is where a stage lies in a filter.
type stage struct {
	nibble uint8
	first  int // its first bit behind the head
	bits   int
}

// stageAt returns the stage whose head begins at bit at of a filter of m bits. It
// isn't ok if there is none, or not all of one.
func stageAt(filter []byte, m, at int) (s stage, ok bool) {
	if at+StageHeadBits > m {
		return stage{}, false
	}
	head := load(filter, at)
	s = stage{uint8(head & 15), at + StageHeadBits, StageBits(uint8(head >> nibbleBits))}
	return s, s.first+s.bits <= m
}

// stageFor returns the stage that routers ask which see a TTL.
func stageFor(filter []byte, m int, ttl uint8) (s stage, ok bool) {
	if ttl == 0 {
		return stage{}, false
	}
	at := 0
	for range ttl {
		if s, ok = stageAt(filter, m, at); !ok {
			return s, false
		}
		at = s.first + s.bits
	}
	return s, true
}

// checkStages returns an error unless a filter of m bits is a row of stages.
func checkStages(filter []byte, m int) error {
	n := 0
	for at := 0; at < m; n++ {
		s, ok := stageAt(filter, m, at)
		if !ok {
			return malformed("a stage cut off at bit %d of %d", at, m)
		}
		at = s.first + s.bits
	}
	if n > 255 {
		return malformed("%d stages, want at most 255", n)
	}
	return nil
}
