// Package entropy codes strings of bits: by range ANS close to their entropy, or by
// Golomb-Rice, which is simpler to decode. It handles bits, not cells.
//
// [Append] codes strings whose bits are one with the same probability each, in what an ideal
// code with a learned probability takes, plus a byte and 0.01 % on average (TestLength). If
// more than half of the bits are ones, it takes up to 3 bytes more per 64 KiB; strings below
// 250 bits take up to 0.3 bytes more. The decoder must know the lengths of the strings.
//
// The format is spec/codings.md, "Strings of bits" and "Positions". It is range ANS (Duda 2013,
// arXiv:1311.2540); levels are uniform steps of the root of the probability (Rissanen's
// precision of parameters), which lose at most 6 bits in 64 KiB if ones are rare and 12 if
// half are. The exact start and the symbol END save the 4 bytes or more by which such coders
// usually exceed the entropy. The code has no redundancy, so most corruption is undetectable
// here.
package entropy
