//go:build !arm64 || purego || race

// Package xxh3 computes XXH3-128 (Collet, specification of xxHash). It exists because every program with a filter links
// it: it needs nothing else, where a library with kernels for more processors links the detection of all their features.
package xxh3

import (
	"encoding/binary"
	"math/bits"
)

// Sum128 returns XXH3-128 of b with a seed, the low half first.
func Sum128(b []byte, seed uint64) (lo, hi uint64) {
	n := uint64(len(b))
	if n > 16 {
		if n > 240 {
			return long(b, seed)
		}
		if n > 128 {
			return medium(b, seed)
		}
		// Pairs of 16 bytes from both ends, the innermost ones first.
		lo = n * prime64x1
		if n > 32 {
			if n > 64 {
				if n > 96 {
					x, y := (*[16]byte)(b[48:]), (*[16]byte)(b[n-64:])
					lo, hi = (lo+mixed(x, 96, seed))^sum(y), (hi+mixed(y, 112, seed))^sum(x)
				}
				x, y := (*[16]byte)(b[32:]), (*[16]byte)(b[n-48:])
				lo, hi = (lo+mixed(x, 64, seed))^sum(y), (hi+mixed(y, 80, seed))^sum(x)
			}
			x, y := (*[16]byte)(b[16:]), (*[16]byte)(b[n-32:])
			lo, hi = (lo+mixed(x, 32, seed))^sum(y), (hi+mixed(y, 48, seed))^sum(x)
		}
		x, y := (*[16]byte)(b), (*[16]byte)(b[n-16:])
		lo, hi = (lo+mixed(x, 0, seed))^sum(y), (hi+mixed(y, 16, seed))^sum(x)
		return finishPair(lo, hi, n, seed)
	}
	switch {
	case n > 8:
		last := le64(b[n-8:])
		hi, lo = bits.Mul64(le64(b)^last^(flip9First-seed), prime64x1)
		lo += (n - 1) << 54
		last ^= flip9Last + seed
		hi += last + uint64(uint32(last))*(prime32x2-1)
		lo ^= bits.ReverseBytes64(hi)
		h, l := bits.Mul64(lo, prime64x2)
		return finish(l), finish(h + hi*prime64x2)
	case n > 3:
		seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
		in := uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
		hi, lo = bits.Mul64(in^(flip4+seed), prime64x1+n<<2)
		hi += lo << 1
		lo ^= hi >> 3
		lo = (lo ^ lo>>35) * primeMix2
		return lo ^ lo>>28, finish(hi)
	case n > 0:
		in := uint32(b[0])<<16 | uint32(b[n/2])<<24 | uint32(b[n-1]) | uint32(n)<<8
		turned := bits.RotateLeft32(bits.ReverseBytes32(in), 13)
		return finish64(uint64(in) ^ (flip1Low + seed)), finish64(uint64(turned) ^ (flip1High - seed))
	}
	return finish64(seed ^ flip0Low), finish64(seed ^ flip0High)
}

// medium is for 129 to 240 bytes: pairs of neighbors in their order.
func medium(b []byte, seed uint64) (lo, hi uint64) {
	n := uint64(len(b))
	_ = b[128]
	lo = n * prime64x1
	x, y := (*[16]byte)(b), (*[16]byte)(b[16:])
	lo, hi = (lo+mixed(x, 0, seed))^sum(y), (hi+mixed(y, 16, seed))^sum(x)
	x, y = (*[16]byte)(b[32:]), (*[16]byte)(b[48:])
	lo, hi = (lo+mixed(x, 32, seed))^sum(y), (hi+mixed(y, 48, seed))^sum(x)
	x, y = (*[16]byte)(b[64:]), (*[16]byte)(b[80:])
	lo, hi = (lo+mixed(x, 64, seed))^sum(y), (hi+mixed(y, 80, seed))^sum(x)
	x, y = (*[16]byte)(b[96:]), (*[16]byte)(b[112:])
	lo, hi = (lo+mixed(x, 96, seed))^sum(y), (hi+mixed(y, 112, seed))^sum(x)
	lo, hi = finish(lo), finish(hi)
	if len(b) >= 160 {
		x, y = (*[16]byte)(b[128:]), (*[16]byte)(b[144:])
		lo, hi = (lo+mixed(x, 3, seed))^sum(y), (hi+mixed(y, 19, seed))^sum(x)
		if len(b) >= 192 {
			x, y = (*[16]byte)(b[160:]), (*[16]byte)(b[176:])
			lo, hi = (lo+mixed(x, 35, seed))^sum(y), (hi+mixed(y, 51, seed))^sum(x)
			if len(b) >= 224 {
				x, y = (*[16]byte)(b[192:]), (*[16]byte)(b[208:])
				lo, hi = (lo+mixed(x, 67, seed))^sum(y), (hi+mixed(y, 83, seed))^sum(x)
			}
		}
	}
	x, y = (*[16]byte)(b[n-16:]), (*[16]byte)(b[n-32:])
	lo, hi = (lo+mixed(x, 103, -seed))^sum(y), (hi+mixed(y, 119, -seed))^sum(x)
	return finishPair(lo, hi, n, seed)
}

// mixed returns what 16 bytes add, with the secret from byte at.
func mixed(x *[16]byte, at int, seed uint64) uint64 {
	s := (*[16]byte)(secret[at:])
	return folded(le64(x[:])^(le64(s[:])+seed), le64(x[8:])^(le64(s[8:])-seed))
}

func sum(x *[16]byte) uint64 { return le64(x[:]) + le64(x[8:]) }

func finishPair(lo, hi, n, seed uint64) (uint64, uint64) {
	return finish(lo + hi), -finish(lo*prime64x1 + hi*prime64x4 + (n-seed)*prime64x2)
}

// folded is the product with both halves combined.
func folded(a, b uint64) uint64 {
	h, l := bits.Mul64(a, b)
	return h ^ l
}

// finish is the last step of XXH3, and finish64 that of XXH64.
func finish(h uint64) uint64 {
	h = (h ^ h>>37) * primeMix1
	return h ^ h>>32
}

func finish64(h uint64) uint64 {
	h = (h ^ h>>33) * prime64x2
	h = (h ^ h>>29) * prime64x3
	return h ^ h>>32
}

func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
