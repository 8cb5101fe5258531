//go:build !arm64 || purego || race

package xxh3

import "encoding/binary"

// A stripe is 64 bytes. After each block of stripes the sums are scrambled; within a block, each stripe takes its part
// of the secret eight bytes further on.
const (
	stripe     = 64
	perBlock   = (len(secret) - stripe) / 8
	blockBytes = stripe * perBlock
)

// long is for more than 240 bytes.
func long(b []byte, seed uint64) (lo, hi uint64) {
	key := &secret
	if seed != 0 {
		s := seeded(seed)
		key = &s
	}
	n := uint64(len(b))
	sums := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	accumulate(&sums, b, key)
	return merged(&sums, (*[stripe]byte)(key[11:]), n*prime64x1), merged(&sums, (*[stripe]byte)(key[len(key)-stripe-11:]), ^(n * prime64x2))
}

func seeded(seed uint64) (key [192]byte) {
	for i := 0; i < len(key); i += 16 {
		binary.LittleEndian.PutUint64(key[i:], le64(secret[i:])+seed)
		binary.LittleEndian.PutUint64(key[i+8:], le64(secret[i+8:])-seed)
	}
	return key
}

// accumulatePlain adds all stripes of b, of which the last one ends at its end.
func accumulatePlain(sums *[8]uint64, b []byte, key *[192]byte) {
	rest := b
	for ; len(rest) > blockBytes; rest = rest[blockBytes:] {
		addStripes(sums, rest, key, 0, perBlock)
		for i := range sums {
			sums[i] = (sums[i] ^ sums[i]>>47 ^ le64(key[len(key)-stripe+8*i:])) * prime32x1
		}
	}
	addStripes(sums, rest, key, 0, (len(rest)-1)/stripe)
	addStripes(sums, b[len(b)-stripe:], key, len(key)-stripe-7, 1)
}

// addStripes adds stripes from the beginning of b, with the key from byte at.
func addStripes(sums *[8]uint64, b []byte, key *[192]byte, at, stripes int) {
	for i := range stripes {
		in, k := (*[stripe]byte)(b[i*stripe:]), (*[stripe]byte)(key[at+8*i:])
		for j := 0; j < 8; j += 2 {
			x, y := le64(in[8*j:]), le64(in[8*j+8:])
			xk, yk := x^le64(k[8*j:]), y^le64(k[8*j+8:])
			sums[j] += y + uint64(uint32(xk))*(xk>>32)
			sums[j+1] += x + uint64(uint32(yk))*(yk>>32)
		}
	}
}

func merged(sums *[8]uint64, key *[stripe]byte, h uint64) uint64 {
	h += folded(sums[0]^le64(key[:]), sums[1]^le64(key[8:]))
	h += folded(sums[2]^le64(key[16:]), sums[3]^le64(key[24:]))
	h += folded(sums[4]^le64(key[32:]), sums[5]^le64(key[40:]))
	h += folded(sums[6]^le64(key[48:]), sums[7]^le64(key[56:]))
	return finish(h)
}
