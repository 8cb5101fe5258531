package inpacket

// MaxPlanes is the largest number of planes of a Linear filter.
const MaxPlanes = 4

// planeLog is the log of the number of values of a seed that belong to one plane.
const planeLog = seedLog - 2

// split says how a Linear filter is split into planes: into how many, and the length
// of each but the last, in 32nds of the filter's.
type split struct{ planes, part int }

// splits are the ways to split, by K.
var splits = [16]split{
	{1, 0},
	{2, 12}, {2, 11}, {2, 10}, {2, 9}, {2, 8}, {2, 7}, {2, 6},
	{3, 9}, {3, 8}, {3, 7}, {3, 6}, {3, 5},
	{4, 6}, {4, 5}, {4, 4},
}

// LinearPlanes returns how many planes a Linear filter of m bits has, by K below 16,
// and the length in bits of each: all but the last have ⌊m·x/32⌋, the last the rest.
//
//	K      0   1 to 7      8 to 12     13 to 15
//	planes 1   2           3           4
//	x          12 to 6     9 to 5      6 to 4
//
// The planes lie one behind the other.
func LinearPlanes(k uint8, m int) (planes int, bits [MaxPlanes]int) {
	planes, each := planesOf(k, m)
	for p := range planes - 1 {
		bits[p] = each
	}
	bits[planes-1] = m - (planes-1)*each
	return planes, bits
}

// planesOf returns how many planes there are, and the length of each but the last.
func planesOf(k uint8, m int) (planes, each int) {
	s := splits[k&15]
	return s.planes, m * s.part >> 5
}

// AppendRow appends the row of c in one plane of a Linear filter to dst, which has
// bits columns, below 2^16: bit b of the row is bit b&63 of word b>>6, and the words
// are values of the stream; bits from the last column on are zero.
func (c Codeword) AppendRow(dst []uint64, seed uint32, plane, bits int) []uint64 {
	s := c.stream(seed).Skip(uint64(plane) << planeLog)
	var v uint64
	for ; bits > 0; bits -= 64 {
		v, s = s.Next()
		if bits < 64 {
			v &= 1<<bits - 1
		}
		dst = append(dst, v)
	}
	return dst
}
