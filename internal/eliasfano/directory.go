package eliasfano

import "math/bits"

// A directory tells where every 64th bucket begins among the high bits, for 5/16 bits a
// bucket: a place for each 1024 buckets, and 16 bits from there for each 64. Where
// numbers are evenly spread, two words of high bits behind that nearly always have the
// bucket. Where they are not, and 1024 buckets take more high bits than 16 bits tell, it
// has the places of them all, so that none is far; they take no more memory than the
// high bits do (Clark 1996).
type directory struct {
	words []uint64 // the high bits
	begin []uint64 // of buckets 0, 1024, …; with isFar, an index into far
	past  []uint16 // how far behind that are buckets 0, 64, …
	far   []uint64 // 1024 places for each entry that needs them
}

const (
	nearLog = 6
	near    = 1 << nearLog
	wideLog = 10
	wide    = 1 << wideLog
	isFar   = 1 << 63
)

// newDirectory returns the directory of a number of buckets whose high bits are the
// first length of words.
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

// find returns the place of the first high bit of bucket h.
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
	// The zeros of the next 128 bits as ones: first those of 64, and if they are too
	// few, those of the others. Which it is can't be foretold, so there is no branch.
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

// skip returns the place behind n zeros from bit at on.
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

// selectOne returns the place of the set bit of x that has n set bits below it. There
// must be one: Vigna 2008, "Broadword implementation of rank/select queries", with a
// table for the last byte.
func selectOne(x, n uint64) int {
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f
	s *= eachByte // byte i: how many are set in bytes 0 to i
	// The bytes that have n or fewer up to their end lie before the one.
	before := uint64(bits.OnesCount64(((n*eachByte|topBits)-s)&topBits)) * 8
	n -= s << 8 >> before & 0xff
	return int(before) + int(selectInByte[n<<8&0x700|x>>before&0xff])
}

// selectInByte has at n·256 + b the place of the set bit of the byte b that has n set
// bits below it.
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
