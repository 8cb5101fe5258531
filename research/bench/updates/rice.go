package main

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// appendRice appends ascending numbers: how many they are, the parameter of the code, and their
// differences in a Rice code with the parameter that makes it shortest (Golomb 1966; Rice and Plaunt
// 1971).
func appendRice(dst []byte, numbers []uint64) []byte {
	parameter, least := 0, bitsOfRice(numbers, 0)
	for p := 1; p < 32; p++ {
		if n := bitsOfRice(numbers, p); n < least {
			parameter, least = p, n
		}
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(numbers))), byte(parameter))
	start := len(dst)
	dst = append(dst, make([]byte, (least+7)/8)...)
	code, at, last := dst[start:], uint64(0), uint64(0)
	set := func(bit uint64) { code[bit/8] |= 1 << (bit % 8) }
	for _, v := range numbers {
		gap := v - last
		at += gap >> parameter // zeros
		set(at)
		at++
		for i := range parameter {
			if gap>>i&1 != 0 {
				set(at + uint64(i))
			}
		}
		at += uint64(parameter)
		last = v
	}
	return dst
}

func bitsOfRice(numbers []uint64, parameter int) uint64 {
	sum, last := uint64(0), uint64(0)
	for _, v := range numbers {
		sum += (v-last)>>parameter + 1 + uint64(parameter)
		last = v
	}
	return sum
}

var errShort = errors.New("a Rice code ends too early")

// readRice returns the numbers that appendRice appended, and what follows them.
func readRice(src []byte) (numbers []uint64, rest []byte, err error) {
	count, width := binary.Uvarint(src)
	if width <= 0 || len(src) < width+1 {
		return nil, nil, errShort
	}
	parameter, code := int(src[width]), src[width+1:]
	at, last := 0, uint64(0)
	for range count {
		gap := uint64(0)
		for {
			if at/8 >= len(code) {
				return nil, nil, errShort
			}
			b := code[at/8] >> (at % 8)
			if b != 0 {
				zeros := bits.TrailingZeros8(b)
				gap, at = gap+uint64(zeros), at+zeros+1
				break
			}
			gap, at = gap+uint64(8-at%8), at+8-at%8
		}
		for range parameter {
			if at/8 >= len(code) {
				return nil, nil, errShort
			}
			at++
		}
		gap <<= parameter
		for i := range parameter {
			bit := at - parameter + i
			gap |= uint64(code[bit/8]>>(bit%8)&1) << i
		}
		last += gap
		numbers = append(numbers, last)
	}
	return numbers, code[(at+7)/8:], nil
}
