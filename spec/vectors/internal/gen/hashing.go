package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// hashed is a key with the hash that the algorithm's authors publish for it, or "" if they
// don't.
type hashed struct {
	seed      umbel.Seed
	key       []byte
	published string
}

// hashing returns keys with their digests, a file for each algorithm.
func hashing() []file {
	var files []file
	for _, a := range algorithms {
		var b strings.Builder
		for _, k := range append(a.published, ours(a.seeds)...) {
			seed := k.seed.Bytes()
			fmt.Fprintf(&b, "%x %s %v\n", seed, dash(hex.EncodeToString(k.key)), digestOf(umbel.Hasher{Alg: a.alg, Seed: k.seed}, k.key))
		}
		files = append(files, file{
			Path: "hashing/" + a.alg.String() + ".txt",
			Header: []field{
				{"comment", a.comment},
				{"hash", a.alg.String()},
				{"row", "seed, key, digest"},
			},
			Body: b.String(),
		})
	}
	return files
}

// digestOf returns the digest of a key or, for hash caller, the digest that key encodes:
// its first 16 bytes, with zeros after a shorter key, H1 before H2, little-endian.
func digestOf(h umbel.Hasher, key []byte) umbel.Digest {
	if h.HashesKeys() {
		return h.HashBytes(key)
	}
	var b [16]byte
	copy(b[:], key)
	return umbel.Digest{H1: binary.LittleEndian.Uint64(b[:8]), H2: binary.LittleEndian.Uint64(b[8:])}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// algorithm is a hash algorithm with what its authors published about it.
type algorithm struct {
	alg       umbel.Alg
	comment   string
	published []hashed
	seeds     []umbel.Seed
}

const prime32 = 2654435761

var algorithms = []algorithm{
	{umbel.XXH3, "XXH3-128; the first rows are from the sanity test of xxHash", sanity(xxh128), seeds8},
	{umbel.SipHash, "SipHash-2-4-128; the first rows are from vectors.h of the reference code", sip(), seeds16},
	{umbel.XXH64, "XXH64, widened; the first rows are from the sanity test of xxHash", sanity(xxh64), seeds8},
	{umbel.Murmur64A, "the pair of MurmurHash64A", nil, seeds0},
	{umbel.MD5, "MD5; the first rows are those of RFC 1321, appendix A.5", rfc1321(), seeds0},
	{umbel.Caller, "digests given as keys", nil, seeds0},
	{umbel.Murmur3, "MurmurHash3_x64_128", nil, seeds0},
	{umbel.SparkMurmur3, "the pair of hashes of Spark, widened", nil, seeds4},
}

var (
	seeds0  = []umbel.Seed{{}}
	seeds4  = []umbel.Seed{{}, fixture.Seed(0xf8a432eb, 0)}
	seeds8  = []umbel.Seed{{}, fixture.Seed(1, 0), fixture.Seed(0x0123456789abcdef, 0)}
	seeds16 = []umbel.Seed{{}, fixture.Seed(0, 1), fixture.Seed(0x0123456789abcdef, 0xfedcba9876543210)}
)

// ours returns keys of the lengths at which algorithms take another path.
func ours(seeds []umbel.Seed) []hashed {
	var all []hashed
	for _, s := range seeds {
		for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 128, 129, 240, 241, 300, 1025} {
			key := make([]byte, n)
			for i := range key {
				key[i] = byte(i + n)
			}
			all = append(all, hashed{seed: s, key: key})
		}
	}
	return all
}

// sanityBuffer returns the first n bytes of the input of xxHash's sanity test.
func sanityBuffer(n int) []byte {
	b := make([]byte, n)
	gen := uint64(prime32)
	for i := range b {
		b[i] = byte(gen >> 56)
		gen *= 11400714785074694797
	}
	return b
}

type sanityRow struct {
	n         int
	seed      uint64
	published string
}

var xxh128 = []sanityRow{
	{0, 0, "99aa06d3014798d86001c324468d497f"},
	{0, prime32, "92220ae55e14ab505444f7869c671ab0"},
	{1, 0, "a6cd5e9392000f6ac44bdff4074eecdb"},
	{1, prime32, "89b99554ba22467cb53d5557e7f76f8d"},
	{6, 0, "082afe0b8162d12a3e7039bdda43cfc6"},
	{6, prime32, "5a865b5389abd2b1269d8f70be98856e"},
	{12, 0, "6e3efd8fc7802b18061a192713f69ad9"},
	{12, prime32, "d7e09d518a3405d39be9f9a67f3c7dfb"},
}

var xxh64 = []sanityRow{
	{0, 0, "ef46db3751d8e999"},
	{0, prime32, "ac75fda2929b17ef"},
	{1, 0, "e934a84adb052768"},
	{1, prime32, "5014607643a9b4c3"},
	{4, 0, "9136a0dca57457ee"},
	{14, 0, "8282dcc4994e35c8"},
	{14, prime32, "c3bd6bf63deb6df0"},
	{222, 0, "b641ae8cb691c174"},
	{222, prime32, "20cb8ab7ae10c14a"},
}

func sanity(rows []sanityRow) []hashed {
	var all []hashed
	for _, r := range rows {
		all = append(all, hashed{fixture.Seed(r.seed, 0), sanityBuffer(r.n), r.published})
	}
	return all
}

// sip returns the first vectors of the reference code: the key is 00 01 … 0f, the
// input 00 01 … .
func sip() []hashed {
	seed, _ := umbel.ParseSeed("000102030405060708090a0b0c0d0e0f")
	var all []hashed
	for n, published := range []string{
		"a3817f04ba25a8e66df67214c7550293",
		"da87c1d86b99af44347659119b22fc45",
		"8177228da4a45dc7fca38bdef60affe4",
		"9c70b60c5267a94e5f33b6b02985ed51",
	} {
		input := []byte{0, 1, 2, 3}[:n]
		all = append(all, hashed{seed, input, published})
	}
	return all
}

func rfc1321() []hashed {
	var all []hashed
	for _, v := range [][2]string{
		{"", "d41d8cd98f00b204e9800998ecf8427e"},
		{"a", "0cc175b9c0f1b6a831c399e269772661"},
		{"abc", "900150983cd24fb0d6963f7d28e17f72"},
		{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
		{"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
		{"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"},
	} {
		all = append(all, hashed{key: []byte(v[0]), published: v[1]})
	}
	return all
}
