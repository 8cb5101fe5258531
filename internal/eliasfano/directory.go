package eliasfano

import "math/bits"

// A directory tells where every 256th bucket begins among the high bits: for a
// quarter to half a bit a number, a bucket is found by counting in six words of high
// bits at most, where numbers are evenly spread. Where they are not, and the buckets of
// one entry take more than farBits, it has the places of them all, so that finding one
// never takes long; they take no more memory than the high bits (Clark 1996).
type directory struct {
	begins []uint64 // of buckets 0, 256, …; where isFar, an index into far
	far    []uint64 // 256 places for each entry that needs them
}

const (
	entryLog = 8
	entry    = 1 << entryLog
	farBits  = entry * 64
	isFar    = 1 << 63
)

// newDirectory returns the directory of a number of buckets whose high bits are the
// first length of words.
func newDirectory(words []uint64, length, buckets uint64) directory {
	d := directory{begins: make([]uint64, 0, (buckets+entry-1)>>entryLog)}
	at := uint64(0)
	for first := uint64(0); first < buckets; first += entry {
		n := min(entry, buckets-first)
		end := length
		if n == entry {
			end = skip(words, at, entry)
		}
		if end-at <= farBits {
			d.begins = append(d.begins, at)
		} else {
			d.begins = append(d.begins, isFar|uint64(len(d.far)))
			for range n {
				d.far = append(d.far, at)
				at = skip(words, at, 1)
			}
		}
		at = end
	}
	return d
}

// begin returns the place of the first high bit of bucket h.
func (d *directory) begin(words []uint64, h uint64) uint64 {
	at := d.begins[h>>entryLog]
	if at >= isFar {
		return d.far[at&^isFar+h&(entry-1)]
	}
	return skip(words, at, h&(entry-1))
}

func (d *directory) bytes() uint64 { return uint64(len(d.begins)+len(d.far)) * 8 }

// skip returns the place behind n zeros from bit at on.
func skip(words []uint64, at, n uint64) uint64 {
	if n == 0 {
		return at
	}
	w := at >> 6
	x := ^words[w] &^ (1<<(at&63) - 1)
	for {
		c := uint64(bits.OnesCount64(x))
		if c >= n {
			return w<<6 + uint64(selectOne(x, n-1)) + 1
		}
		n -= c
		w++
		x = ^words[w]
	}
}

const (
	eachByte = 0x0101010101010101
	topBits  = 0x8080808080808080
)

// selectOne returns the place of the set bit of x that has n set bits below it. There
// must be one: Vigna 2008, "Broadword implementation of rank/select queries", with a
// step by ones in the place of a table for the last byte.
func selectOne(x, n uint64) int {
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f
	s *= eachByte // byte i: how many are set in bytes 0 to i
	// The bytes that have n or fewer up to their end lie before the one.
	before := uint64(bits.OnesCount64(((n*eachByte|topBits)-s)&topBits)) * 8
	n -= s << 8 >> before & 0xff
	b := x >> before
	for range n {
		b &= b - 1
	}
	return int(before) + bits.TrailingZeros64(b)
}
