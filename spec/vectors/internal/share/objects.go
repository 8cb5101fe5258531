package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/share"
)

// content returns the object of n bytes in objects.txt: the SHA-256 of "0", of "1" and so on.
func content(n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		h := sha256.Sum256([]byte(strconv.Itoa(i)))
		b = append(b, h[:]...)
	}
	return b[:n]
}

// leaves returns the list of an object's chunks.
func leaves(object []byte) []byte {
	var list []byte
	for len(object) > 0 {
		n := min(len(object), share.ChunkBytes)
		h := sha256.Sum256(append([]byte{0}, object[:n]...))
		list = append(list, h[:]...)
		object = object[n:]
	}
	return list
}

// objects returns the vector with names of objects.
func objects() file {
	f := file{Path: "objects.txt", Header: []field{
		{"comment", "names of objects, and their lists of chunks; the bytes are the SHA-256 of 0, of 1 and so on, written in decimal"},
		{"row", "bytes name chunks"},
	}}
	var b strings.Builder
	for _, n := range []int{0, 1, 65535, 65536, 65537, 131072, 200_000, 327_681} {
		object := content(n)
		list := hex.EncodeToString(leaves(object))
		if n <= share.ChunkBytes {
			list = "-"
		}
		fmt.Fprintf(&b, "%d %s %s\n", n, share.RefOf(object).Hash, list)
	}
	f.Body = b.String()
	return f
}
