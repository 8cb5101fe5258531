// Package entropy turns strings of bits into fewer bytes and back: by range ANS at
// the entropy, by Golomb-Rice where decoding should be simple. It knows nothing of cells.
//
// # The code
//
// [Append] codes strings whose bits are ones with one chance each, the string's fill,
// in what an ideal code takes that learns the fill, a byte and 0.01 % more on average
// (TestLength). Fills above a half, whose levels are coarser, take up to 3 bytes more in
// 64 KiB, and strings below 250 bits up to 0.3. The lengths of the strings are known to
// who decodes them. All numbers are little endian.
//
//	+-------------------------+------------------+------------------+
//	| levels: 1 byte a string | state: 0-7 bytes | words: 4 bytes   |
//	+-------------------------+------------------+------------------+
//
// The state's bytes are all there is behind the levels if that is less than 8 bytes.
// Otherwise there are 4 to 7 of them, so that the words are whole. The last of them
// isn't 0.
//
// # Levels
//
// Level 0: the string is all zeros, or has no bits, and no symbols. Levels 1 to 181: the
// step s is the level. Levels 182 to 255: the bits are inverted, and s is
// ⌊181·(level-181)/74⌋. The fill that the string is coded for is p/2^16, with p = s².
// Uniform steps of its root lose at most 6 bits in 64 KiB if ones are few, 12 if half are.
//
// # Symbols
//
// Each step has a table C of 16 bits: symbol i has the frequency C[i+1]-C[i] of 2^16,
// and C[0] = 0. Divisions are rounded down.
//
// Steps from 1 to 99: gaps. b is the largest number for which p·2^b is at most 2^12, or 0.
// Symbol i < Q is a gap of g = i·2^b to (i+1)·2^b-1 zeros and the one behind them; b raw
// bits follow, which are g mod 2^b. Symbol Q is the escape: Q·2^b zeros and no one. With
//
//	r = (2^16-p)·2^48, and b times r = r·r / 2^64
//	u(1) = r, u(i+1) = u(i)·r / 2^64
//	T(0) = 2^16, T(i) = (u(i) + 2^47) / 2^48
//
// Q is the first i for which T(i)-T(i+1) < 4, and C[i] = 2^16-T(i) up to Q, C[Q+1] =
// 2^16. Symbols follow each other up to the string's end. Where no more than Q·2^b bits
// are left, R of them, the symbols from E = ⌈R/2^b⌉ on are one, END: from there on all
// are zeros. C is C[0] to C[E] there, and then 2^16.
//
// Steps from 100 to 181: bytes, the first bit lowest. A byte with w ones has the frequency
//
//	max(1, (p^w·(2^16-p)^(8-w) + 2^111) / 2^112)
//
// but byte 0 has what is left of 2^16. If n < 8 bits are left, of value v < 2^n, symbol v
// begins at C[v·2^(8-n)], and symbol 2^n would at 2^16.
//
// # The state
//
// It is a number x < 2^63. Symbols are taken from it in the order of the strings. Before
// each, if x < 2^31 and there are words left, the next is taken in: x = x·2^32 + word.
//
// Plainly, if now x ≥ 2^31: the symbol is the i for which C[i] ≤ x mod 2^16 < C[i+1], and
//
//	x = (C[i+1]-C[i])·(x / 2^16) + x mod 2^16 - C[i]
//
// Exactly, otherwise: begin with lo = 0 and hi the number of symbols. While hi-lo > 1,
// let mid = (lo+hi)/2, d = C[hi]-C[lo], a = C[hi]-C[mid], k = ⌈x·a/d⌉. If ⌈(x+1)·a/d⌉ > k,
// then lo = mid and x = k, else hi = mid and x = x-k. The symbol is lo.
//
// Raw bits are then x mod 2^b, and x = x / 2^b. Behind the last symbol, when a word has
// been taken in if one was to, x is 0 and there are no words left; else the payload is
// corrupt, as it is if a gap goes beyond the end. Nearly all else is the code of some
// strings: there is no redundancy by which to notice changes.
//
// Range ANS: Duda 2013, arXiv:1311.2540. Steps in the root of the fill: Rissanen's
// precision of parameters. The exact start and END save the 4 bytes or more by which
// such coders are longer than the entropy.
package entropy
