// Package ribbon provides filters that are solved once from all keys and then sent, to
// receivers that only ask: Dillinger and Walzer 2021. They take 2 % more memory than any
// filter must for a rate of 1 %, where a Bloom filter takes 44 % more.
//
// A key is a row of 128 coefficients, of bits, for neighbouring slots, and the digest's
// own answer. In each column of the solution the exclusive or of those slots is one bit of
// the answer. With c columns an absent key gets its own answer with the probability 2^-c.
//
// The filter is split into shards of some 1500 keys, of which each is solved by itself
// with 4 slots more than keys, and with other seeds where that fails. It is standard, not
// homogeneous: its equations have right sides. Bits a key for rates of 0.01 and 0.001, of
// which 6.64 and 9.97 are the least of any filter:
//
//	shards of 1500 keys, standard     6.76   10.03
//	the same, homogeneous             6.78   10.17
//	100,000 keys at once, standard    6.85   10.16
//
// Keys can't be taken out, and filters can't be merged or folded. Keys that are added
// after Seal are listed beside the solution.
package ribbon
