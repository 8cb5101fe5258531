package eliasfano

import "math/bits"

// A directory contains the position of every 64th bucket in the high bits, in 5/16 bits per
// bucket: a position per 1024 buckets, and an offset of 16 bits from there per 64. If numbers are
// spread evenly, the bucket is nearly always in the two words of high bits from there. If 1024
// buckets take more high bits than 16 bits can count, the directory has the positions of all of
// them, which take no more memory than the high bits (Clark 1996).
type directory struct {
	words []uint64 // the high bits
	begin []uint64 // of buckets 0, 1024, …; with isFar, an index into far
	past  []uint16 // offsets from there of buckets 0, 64, …
	far   []uint64 // 1024 positions for each entry that needs them
}

const (
	nearLog = 6
	near    = 1 << nearLog
	wideLog = 10
	wide    = 1 << wideLog
	isFar   = 1 << 63
)

// newDirectory returns the directory of buckets whose high bits are the first length bits of
// words.
func newDirectory(words []uint64, length, buckets uint64) directory {
	d := directory{
		words: words,
		begin: make([]uint64, 0, (buckets+wide-1)>>wideLog),
		past:  make([]uint16, 0, (buckets+near-1)>>nearLog),
	}
	for at := uint64(0); buckets > 0; {
		n := min(wide, buckets)
		buckets -= n
		end, first := length, at
		if buckets > 0 {
			end = skip(words, at, n)
		}
		isNear := end-at < 1<<16
		if isNear {
			d.begin = append(d.begin, at)
		} else {
			d.begin = append(d.begin, isFar|uint64(len(d.far)))
		}
		for i := uint64(0); i < n; i += near {
			d.past = append(d.past, uint16(at-first))
			step := min(near, n-i)
			if isNear {
				if i+step < n {
					at = skip(words, at, step)
				}
				continue
			}
			for range step {
				d.far = append(d.far, at)
				at = skip(words, at, 1)
			}
		}
		at = end
	}
	return d
}

// find returns the position of the first high bit of bucket h.
func (d *directory) find(h uint64) uint64 {
	at := d.begin[h>>wideLog]
	if at >= isFar {
		return d.far[at&^isFar+h&(wide-1)]
	}
	at += uint64(d.past[h>>nearLog])
	n := h & (near - 1)
	if n == 0 {
		return at
	}
	w, s := at>>6, at&63
	if w+2 >= uint64(len(d.words)) {
		return skip(d.words, at, n)
	}
	// The zeros of the next 128 bits as ones: those of the first 64 bits or, if they are too
	// few, of the others. This is unpredictable, so the code has no branch.
	v := (*[3]uint64)(d.words[w:])
	x, y := ^(v[0]>>s | v[1]<<(64-s)), ^(v[1]>>s | v[2]<<(64-s))
	c := uint64(bits.OnesCount64(x))
	second := uint64(int64(c-n) >> 63)
	x ^= (x ^ y) & second
	n -= c & second
	if n > uint64(bits.OnesCount64(x)) {
		return skip(d.words, at+128, n-uint64(bits.OnesCount64(x)))
	}
	return at + 64&second + uint64(selectOne(x, n-1)) + 1
}

func (d *directory) bytes() uint64 {
	return uint64(len(d.begin)+len(d.far))*8 + uint64(len(d.past))*2
}

// skip returns the position after n zeros from bit at on.
func skip(words []uint64, at, n uint64) uint64 {
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

// selectOne returns the position of the one of x that has n ones below it, which must exist:
// Vigna 2008, "Broadword implementation of rank/select queries", with a table for the last byte.
func selectOne(x, n uint64) int {
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f
	s *= eachByte // byte i: number of ones in bytes 0 to i
	// The bytes with at most n ones up to their end precede that of the one.
	before := uint64(bits.OnesCount64(((n*eachByte|topBits)-s)&topBits)) * 8
	n -= s << 8 >> before & 0xff
	return int(before) + int(selectInByte[n<<8&0x700|x>>before&0xff])
}

// selectInByte has at n·256 + b the position of the one of byte b that has n ones below it.
var selectInByte = func() (table [8 << 8]uint8) {
	for b := range 256 {
		n := 0
		for i := range 8 {
			if b>>i&1 != 0 {
				table[n<<8|b] = uint8(i)
				n++
			}
		}
	}
	return table
}()
