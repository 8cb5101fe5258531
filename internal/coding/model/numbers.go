package model

import (
	"math/bits"

	"github.com/umbel-filters/umbel/internal/coding/entropy"
)

// A list of numbers from 1 on is coded by their lengths, like Elias's gamma code (Elias 1975):
// spec/codings.md, "Lists of numbers". In this file, longest is the largest length, L.

// maxLength is the largest L.
const maxLength = 63

// putNumbers makes the strings of a list, and returns the largest length.
func (c *Modeler) putNumbers(list []uint64) int {
	var count [maxLength + 2]uint64 // count[l]: numbers of length l or more
	longest := 0
	for _, u := range list {
		l := bits.Len64(u) - 1
		count[l]++
		longest = max(longest, l)
	}
	for l := longest; l > 0; l-- {
		count[l-1] += count[l]
	}
	first := len(c.strs)
	for s := range longest {
		c.strs = append(c.strs, entropy.Bits{Words: c.allocZero(wordsFor(count[s]))})
	}
	for j := range longest {
		c.strs = append(c.strs, entropy.Bits{Words: c.allocZero(wordsFor(count[j+1]))})
	}
	lengths := c.strs[first : first+longest]
	digits := c.strs[first+longest:]
	for _, u := range list {
		l := bits.Len64(u) - 1
		for s := range lengths[:min(l+1, longest)] {
			bit := uint64(0)
			if s < l {
				bit = 1
			}
			push(&lengths[s], bit)
		}
		for j := range l {
			push(&digits[j], u>>(l-1-j)&1)
		}
	}
	return longest
}

// getNumbers appends a list of n numbers to list. The lengths of strings follow from the ones
// in the strings before, so all strings are read first.
func (c *Modeler) getNumbers(list []uint64, n uint64, longest int) ([]uint64, error) {
	first := len(c.strs)
	lengthOf := n
	for s := range 2 * longest {
		if s >= longest {
			lengthOf = ones(c.strs[first+s-longest].Words)
		}
		words, err := c.getString(lengthOf)
		if err != nil {
			return nil, err
		}
		c.strs = append(c.strs, entropy.Bits{Words: words}) // Len counts the bits that were read
		lengthOf = ones(words)
	}
	lengths := c.strs[first : first+longest]
	digits := c.strs[first+longest:]
	for range n {
		l := 0
		for l < longest && pull(&lengths[l]) == 1 {
			l++
		}
		u := uint64(1)
		for j := range l {
			u = u<<1 | pull(&digits[j])
		}
		list = append(list, u)
	}
	return list, nil
}

// push appends a bit to a string, whose words are allocated and zero.
func push(s *entropy.Bits, bit uint64) {
	s.Words[s.Len/64] |= bit << (s.Len % 64)
	s.Len++
}

// pull returns the next bit of a string. Len is the number of bits that were read.
func pull(s *entropy.Bits) uint64 {
	bit := s.Words[s.Len/64] >> (s.Len % 64) & 1
	s.Len++
	return bit
}
