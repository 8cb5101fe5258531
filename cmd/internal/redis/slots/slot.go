// Package slots divides filters between nodes by their names, as Redis Cluster divides keys: a name has one of 16384 slots, and a
// map, which is a file on each node, assigns the slots to nodes. Nodes do not talk about it: a [Place] is one node's view of the map.
package slots

import "bytes"

// Count is the number of slots.
const Count = 16384

// Of returns the slot of a name: the CRC16 (XMODEM: polynomial 0x1021, initially 0) of its hash tag, mod Count. The hash tag is what
// is between the first { and the next }, if that is not empty, otherwise the whole name. (Redis Cluster specification, "Key
// distribution model" and "Hash tags".)
func Of(name []byte) int {
	if open := bytes.IndexByte(name, '{'); open >= 0 {
		if n := bytes.IndexByte(name[open+1:], '}'); n > 0 {
			name = name[open+1 : open+1+n]
		}
	}
	crc := uint16(0)
	for ; len(name) >= 8; name = name[8:] {
		crc = tables[7][byte(crc>>8)^name[0]] ^ tables[6][byte(crc)^name[1]] ^ tables[5][name[2]] ^ tables[4][name[3]] ^
			tables[3][name[4]] ^ tables[2][name[5]] ^ tables[1][name[6]] ^ tables[0][name[7]]
	}
	for _, b := range name {
		crc = crc<<8 ^ tables[0][byte(crc>>8)^b]
	}
	return int(crc % Count)
}

// tables[i] has the CRC of each byte that i zero bytes follow, so that eight bytes are looked up at a time.
var tables = func() (t [8][256]uint16) {
	for b := range 256 {
		crc := uint16(b) << 8
		for i := range t {
			for range 8 {
				crc = crc<<1 ^ crc>>15*0x1021
			}
			t[i][b] = crc
		}
	}
	return t
}()
