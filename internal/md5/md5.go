// Package md5 computes MD5 (RFC 1321), the hash of some foreign filters; it protects nothing. crypto/md5 would link
// parts of package crypto, larger than a filter, into every program that has one.
package md5

import (
	"encoding/binary"
	"math/bits"
)

// blockBytes is the number of bytes that one step takes.
const blockBytes = 64

// start is the state before the first block.
var start = [4]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}

// Sum returns the MD5 of b.
func Sum(b []byte) [16]byte {
	s, n := start, uint64(len(b))
	for ; len(b) >= blockBytes; b = b[blockBytes:] {
		step(&s, (*[blockBytes]byte)(b))
	}
	var last [blockBytes]byte
	copy(last[:], b)
	last[len(b)] = 0x80
	if len(b) >= blockBytes-8 {
		step(&s, &last)
		last = [blockBytes]byte{}
	}
	binary.LittleEndian.PutUint64(last[blockBytes-8:], n*8)
	step(&s, &last)
	var sum [16]byte
	for i, x := range s {
		binary.LittleEndian.PutUint32(sum[4*i:], x)
	}
	return sum
}

// step adds a block to s: RFC 1321, section 3.4. The constant of line i is ⌊2^32·|sin(i + 1)|⌋. In the second
// round, the two parts of (b & d) | (c &^ d) have no bit in common and are added one after the other.
func step(s *[4]uint32, block *[blockBytes]byte) {
	a, b, c, d := s[0], s[1], s[2], s[3]

	a = b + bits.RotateLeft32(a+le32(block[0:])+0xd76aa478+(d^b&(c^d)), 7)
	d = a + bits.RotateLeft32(d+le32(block[4:])+0xe8c7b756+(c^a&(b^c)), 12)
	c = d + bits.RotateLeft32(c+le32(block[8:])+0x242070db+(b^d&(a^b)), 17)
	b = c + bits.RotateLeft32(b+le32(block[12:])+0xc1bdceee+(a^c&(d^a)), 22)
	a = b + bits.RotateLeft32(a+le32(block[16:])+0xf57c0faf+(d^b&(c^d)), 7)
	d = a + bits.RotateLeft32(d+le32(block[20:])+0x4787c62a+(c^a&(b^c)), 12)
	c = d + bits.RotateLeft32(c+le32(block[24:])+0xa8304613+(b^d&(a^b)), 17)
	b = c + bits.RotateLeft32(b+le32(block[28:])+0xfd469501+(a^c&(d^a)), 22)
	a = b + bits.RotateLeft32(a+le32(block[32:])+0x698098d8+(d^b&(c^d)), 7)
	d = a + bits.RotateLeft32(d+le32(block[36:])+0x8b44f7af+(c^a&(b^c)), 12)
	c = d + bits.RotateLeft32(c+le32(block[40:])+0xffff5bb1+(b^d&(a^b)), 17)
	b = c + bits.RotateLeft32(b+le32(block[44:])+0x895cd7be+(a^c&(d^a)), 22)
	a = b + bits.RotateLeft32(a+le32(block[48:])+0x6b901122+(d^b&(c^d)), 7)
	d = a + bits.RotateLeft32(d+le32(block[52:])+0xfd987193+(c^a&(b^c)), 12)
	c = d + bits.RotateLeft32(c+le32(block[56:])+0xa679438e+(b^d&(a^b)), 17)
	b = c + bits.RotateLeft32(b+le32(block[60:])+0x49b40821+(a^c&(d^a)), 22)

	a = b + bits.RotateLeft32(a+le32(block[4:])+0xf61e2562+(c&^d)+(b&d), 5)
	d = a + bits.RotateLeft32(d+le32(block[24:])+0xc040b340+(b&^c)+(a&c), 9)
	c = d + bits.RotateLeft32(c+le32(block[44:])+0x265e5a51+(a&^b)+(d&b), 14)
	b = c + bits.RotateLeft32(b+le32(block[0:])+0xe9b6c7aa+(d&^a)+(c&a), 20)
	a = b + bits.RotateLeft32(a+le32(block[20:])+0xd62f105d+(c&^d)+(b&d), 5)
	d = a + bits.RotateLeft32(d+le32(block[40:])+0x02441453+(b&^c)+(a&c), 9)
	c = d + bits.RotateLeft32(c+le32(block[60:])+0xd8a1e681+(a&^b)+(d&b), 14)
	b = c + bits.RotateLeft32(b+le32(block[16:])+0xe7d3fbc8+(d&^a)+(c&a), 20)
	a = b + bits.RotateLeft32(a+le32(block[36:])+0x21e1cde6+(c&^d)+(b&d), 5)
	d = a + bits.RotateLeft32(d+le32(block[56:])+0xc33707d6+(b&^c)+(a&c), 9)
	c = d + bits.RotateLeft32(c+le32(block[12:])+0xf4d50d87+(a&^b)+(d&b), 14)
	b = c + bits.RotateLeft32(b+le32(block[32:])+0x455a14ed+(d&^a)+(c&a), 20)
	a = b + bits.RotateLeft32(a+le32(block[52:])+0xa9e3e905+(c&^d)+(b&d), 5)
	d = a + bits.RotateLeft32(d+le32(block[8:])+0xfcefa3f8+(b&^c)+(a&c), 9)
	c = d + bits.RotateLeft32(c+le32(block[28:])+0x676f02d9+(a&^b)+(d&b), 14)
	b = c + bits.RotateLeft32(b+le32(block[48:])+0x8d2a4c8a+(d&^a)+(c&a), 20)

	a = b + bits.RotateLeft32(a+le32(block[20:])+0xfffa3942+(b^(c^d)), 4)
	d = a + bits.RotateLeft32(d+le32(block[32:])+0x8771f681+(a^(b^c)), 11)
	c = d + bits.RotateLeft32(c+le32(block[44:])+0x6d9d6122+(d^(a^b)), 16)
	b = c + bits.RotateLeft32(b+le32(block[56:])+0xfde5380c+(c^(d^a)), 23)
	a = b + bits.RotateLeft32(a+le32(block[4:])+0xa4beea44+(b^(c^d)), 4)
	d = a + bits.RotateLeft32(d+le32(block[16:])+0x4bdecfa9+(a^(b^c)), 11)
	c = d + bits.RotateLeft32(c+le32(block[28:])+0xf6bb4b60+(d^(a^b)), 16)
	b = c + bits.RotateLeft32(b+le32(block[40:])+0xbebfbc70+(c^(d^a)), 23)
	a = b + bits.RotateLeft32(a+le32(block[52:])+0x289b7ec6+(b^(c^d)), 4)
	d = a + bits.RotateLeft32(d+le32(block[0:])+0xeaa127fa+(a^(b^c)), 11)
	c = d + bits.RotateLeft32(c+le32(block[12:])+0xd4ef3085+(d^(a^b)), 16)
	b = c + bits.RotateLeft32(b+le32(block[24:])+0x04881d05+(c^(d^a)), 23)
	a = b + bits.RotateLeft32(a+le32(block[36:])+0xd9d4d039+(b^(c^d)), 4)
	d = a + bits.RotateLeft32(d+le32(block[48:])+0xe6db99e5+(a^(b^c)), 11)
	c = d + bits.RotateLeft32(c+le32(block[60:])+0x1fa27cf8+(d^(a^b)), 16)
	b = c + bits.RotateLeft32(b+le32(block[8:])+0xc4ac5665+(c^(d^a)), 23)

	a = b + bits.RotateLeft32(a+le32(block[0:])+0xf4292244+(c^(b|^d)), 6)
	d = a + bits.RotateLeft32(d+le32(block[28:])+0x432aff97+(b^(a|^c)), 10)
	c = d + bits.RotateLeft32(c+le32(block[56:])+0xab9423a7+(a^(d|^b)), 15)
	b = c + bits.RotateLeft32(b+le32(block[20:])+0xfc93a039+(d^(c|^a)), 21)
	a = b + bits.RotateLeft32(a+le32(block[48:])+0x655b59c3+(c^(b|^d)), 6)
	d = a + bits.RotateLeft32(d+le32(block[12:])+0x8f0ccc92+(b^(a|^c)), 10)
	c = d + bits.RotateLeft32(c+le32(block[40:])+0xffeff47d+(a^(d|^b)), 15)
	b = c + bits.RotateLeft32(b+le32(block[4:])+0x85845dd1+(d^(c|^a)), 21)
	a = b + bits.RotateLeft32(a+le32(block[32:])+0x6fa87e4f+(c^(b|^d)), 6)
	d = a + bits.RotateLeft32(d+le32(block[60:])+0xfe2ce6e0+(b^(a|^c)), 10)
	c = d + bits.RotateLeft32(c+le32(block[24:])+0xa3014314+(a^(d|^b)), 15)
	b = c + bits.RotateLeft32(b+le32(block[52:])+0x4e0811a1+(d^(c|^a)), 21)
	a = b + bits.RotateLeft32(a+le32(block[16:])+0xf7537e82+(c^(b|^d)), 6)
	d = a + bits.RotateLeft32(d+le32(block[44:])+0xbd3af235+(b^(a|^c)), 10)
	c = d + bits.RotateLeft32(c+le32(block[8:])+0x2ad7d2bb+(a^(d|^b)), 15)
	b = c + bits.RotateLeft32(b+le32(block[36:])+0xeb86d391+(d^(c|^a)), 21)

	s[0] += a
	s[1] += b
	s[2] += c
	s[3] += d
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
