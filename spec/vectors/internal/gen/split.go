package main

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
)

// split returns digests with the numbers of their filters, and the names of the filters.
func split() []file {
	var keys, names strings.Builder
	digests := []umbel.Digest{{}, {H1: 1}, {H2: 1}, {H1: ^uint64(0), H2: ^uint64(0)}}
	for _, k := range []string{"", "a", "abc", "zebra", "message digest"} {
		for _, alg := range []umbel.Alg{umbel.XXH3, umbel.XXH64, umbel.Murmur64A, umbel.MD5} {
			digests = append(digests, umbel.Hasher{Alg: alg}.HashString(k))
		}
	}
	for _, d := range digests {
		for _, n := range []uint64{1, 2, 3, 16, 1000, 1024} {
			fmt.Fprintf(&keys, "%v %d %d\n", d, n, d.Split(n))
		}
	}
	for _, n := range []int{1, 2, 3, 5, 16, 64, 1000, 1024} {
		for i := range n {
			if n <= 16 || i%(n/8) == 0 || i == n-1 {
				name, slot := splitName("seen", i, n)
				fmt.Fprintf(&names, "%d %d seen %s %d\n", i, n, name, slot)
			}
		}
	}
	return []file{
		{Path: "split/keys.txt", Header: []field{{"comment", "the filter of a key"}, {"row", "digest, n, number"}}, Body: keys.String()},
		{Path: "split/names.txt", Header: []field{{"comment", "the names of filters"}, {"row", "number, n, split filter, name, slot"}}, Body: names.String()},
	}
}

// splitName returns the name of a filter, and its slot. It computes the CRC bit by bit, unlike the program.
func splitName(name string, i, n int) (string, int) {
	for r := 0; ; r++ {
		tag := fmt.Sprintf("%d.%d.%d", i, n, r)
		crc := uint16(0)
		for _, b := range []byte(tag) {
			crc ^= uint16(b) << 8
			for range 8 {
				crc = crc<<1 ^ crc>>15*0x1021
			}
		}
		if slot := int(crc % 16384); slot*n/16384 == i {
			return name + "{" + tag + "}", slot
		}
	}
}
