package umbel_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

const (
	prime32 = 2654435761
	prime64 = 11400714785074694797
)

// xxhBuffer is the input of the sanity check of the xxHash reference.
func xxhBuffer(n int) []byte {
	b := make([]byte, n)
	x := uint64(prime32)
	for i := range b {
		b[i] = byte(x >> 56)
		x *= prime64
	}
	return b
}

// Vectors of tests/sanity_test_vectors.h in the xxHash reference, low half first.
// The lengths reach every branch: to 3, 8, 16, 128, 240 bytes, and beyond.
func TestXXH3Vectors(t *testing.T) {
	for _, v := range []struct {
		n    int
		seed uint64
		want umbel.Digest
	}{
		{0, 0, umbel.Digest{H1: 0x6001c324468d497f, H2: 0x99aa06d3014798d8}},
		{0, prime32, umbel.Digest{H1: 0x5444f7869c671ab0, H2: 0x92220ae55e14ab50}},
		{1, 0, umbel.Digest{H1: 0xc44bdff4074eecdb, H2: 0xa6cd5e9392000f6a}},
		{1, prime32, umbel.Digest{H1: 0xb53d5557e7f76f8d, H2: 0x89b99554ba22467c}},
		{6, 0, umbel.Digest{H1: 0x3e7039bdda43cfc6, H2: 0x082afe0b8162d12a}},
		{6, prime32, umbel.Digest{H1: 0x269d8f70be98856e, H2: 0x5a865b5389abd2b1}},
		{12, 0, umbel.Digest{H1: 0x061a192713f69ad9, H2: 0x6e3efd8fc7802b18}},
		{12, prime32, umbel.Digest{H1: 0x9be9f9a67f3c7dfb, H2: 0xd7e09d518a3405d3}},
		{24, 0, umbel.Digest{H1: 0x1e7044d28b1b901d, H2: 0x0ce966e4678d3761}},
		{48, prime32, umbel.Digest{H1: 0x7ba3c3e453a1934e, H2: 0x163adde36c072295}},
		{81, 0, umbel.Digest{H1: 0x5e8bafb9f95fb803, H2: 0x4952f58181ab0042}},
		{222, prime32, umbel.Digest{H1: 0xae995bb8af917a8d, H2: 0x91820016621e97f1}},
		{403, 0, umbel.Digest{H1: 0xcdeb804d65c6dea4, H2: 0x1b6de21e332dd73d}},
		{403, prime64, umbel.Digest{H1: 0x6259f6ecfd6443fd, H2: 0xbed311971e0be8f2}},
		{2048, 0, umbel.Digest{H1: 0xdd59e2c3a5f038e0, H2: 0xf736557fd47073a5}},
		{2048, prime32, umbel.Digest{H1: 0x230d43f30206260b, H2: 0x7fb03f7e7186c3ea}},
	} {
		h := umbel.Hasher{Seed: fixture.Seed(v.seed, 0)}
		if got := h.HashBytes(xxhBuffer(v.n)); got != v.want {
			t.Errorf("%d bytes, seed %d: %v, want %v", v.n, v.seed, got, v.want)
		}
	}
	// The canonical form prints the high half first.
	d := umbel.Hasher{}.HashString("")
	if got := fmt.Sprintf("%016x%016x", d.H2, d.H1); got != "99aa06d3014798d86001c324468d497f" {
		t.Errorf("XXH3-128 of nothing is %s", got)
	}
}

// Vectors of tests/sanity_test_vectors.h in the xxHash reference, and of the
// algorithm's home page.
func TestXXH64Vectors(t *testing.T) {
	for _, v := range []struct {
		key  string
		seed uint64
		want uint64
	}{
		{"", 0, 0xef46db3751d8e999},
		{"", prime32, 0xac75fda2929b17ef},
		{string(xxhBuffer(1)), 0, 0xe934a84adb052768},
		{string(xxhBuffer(1)), prime32, 0x5014607643a9b4c3},
		{string(xxhBuffer(4)), 0, 0x9136a0dca57457ee},
		{string(xxhBuffer(14)), 0, 0x8282dcc4994e35c8},
		{string(xxhBuffer(14)), prime32, 0xc3bd6bf63deb6df0},
		{string(xxhBuffer(222)), 0, 0xb641ae8cb691c174},
		{string(xxhBuffer(222)), prime32, 0x20cb8ab7ae10c14a},
	} {
		h := umbel.Hasher{Alg: umbel.XXH64, Seed: fixture.Seed(v.seed, 0)}
		if got, want := h.HashString(v.key), umbel.DigestFromHash64(v.want); got != want || got.H1 != v.want {
			t.Errorf("%d bytes, seed %d: %v, want %v", len(v.key), v.seed, got, want)
		}
	}
}

// DigestFromHash64 is SplitMix64: these are the first outputs of the generator that starts
// at 0, whose state grows by its constant.
func TestDigestFromHash64Vectors(t *testing.T) {
	const step = 0x9e3779b97f4a7c15
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec} {
		if got := umbel.DigestFromHash64(state); got != (umbel.Digest{H1: state, H2: want}) {
			t.Errorf("output %d is %v, want %016x", i, got, want)
		}
		state += step
	}
}

// Vectors of the SipHash reference (vectors.h, SipHash-2-4-128): the key is 00 to
// 0f, input i the bytes 00 to i-1.
func TestSipHashVectors(t *testing.T) {
	var key [16]byte
	for i := range key {
		key[i] = byte(i)
	}
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom(key)}
	for i, want := range []string{
		"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
		"8177228da4a45dc7fca38bdef60affe4", "9c70b60c5267a94e5f33b6b02985ed51",
		"f88164c12d9c8faf7d0f6e7c7bcd5579",
	} {
		d := h.HashBytes([]byte{0, 1, 2, 3, 4}[:i])
		if got := hex.EncodeToString(littleEndian(d)); got != want {
			t.Errorf("%d bytes: %s, want %s", i, got, want)
		}
	}
}

// Vectors of RFC 1321, appendix A.5. Both halves are read big-endian, so the
// digest prints as MD5 sums do.
func TestMD5Vectors(t *testing.T) {
	h := umbel.Hasher{Alg: umbel.MD5}
	for key, want := range map[string]string{
		"":               "d41d8cd98f00b204e9800998ecf8427e",
		"a":              "0cc175b9c0f1b6a831c399e269772661",
		"abc":            "900150983cd24fb0d6963f7d28e17f72",
		"message digest": "f96b697d7cb7938d525a2f31aaf161d0",
	} {
		if got := h.HashString(key).String(); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
	if got, want := h.HashString("umbel").String(), fmt.Sprintf("%x", md5.Sum([]byte("umbel"))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCallerTakesNoKeys: a filter with hash caller accepts digests only, since a key is not a
// digest.
func TestCallerTakesNoKeys(t *testing.T) {
	h := umbel.Hasher{Alg: umbel.Caller}
	if h.HashesKeys() || !(umbel.Hasher{}).HashesKeys() {
		t.Error("HashesKeys is wrong")
	}
	for name, hash := range map[string]func(){
		"HashBytes":  func() { h.HashBytes(make([]byte, 16)) },
		"HashString": func() { h.HashString("") },
		"HashUint64": func() { h.HashUint64(1) },
	} {
		if text := fixture.PanicText(hash); !strings.Contains(text, "caller") {
			t.Errorf("%s: panic %q, want one about caller", name, text)
		}
	}
}

// Text and integers have the digests of their bytes.
func TestHashTypes(t *testing.T) {
	for _, h := range hashers {
		if !h.HashesKeys() {
			continue
		}
		for _, x := range []uint64{0, 1, 1<<64 - 1, 0x0102030405060708} {
			key := binary.LittleEndian.AppendUint64(nil, x)
			if want := h.HashBytes(key); h.HashString(string(key)) != want || h.HashUint64(x) != want {
				t.Errorf("%v: key %x: %v and %v, want %v", h, key, h.HashString(string(key)), h.HashUint64(x), want)
			}
		}
	}
}

var hashers = []umbel.Hasher{
	{},
	{Seed: fixture.Seed(1, 0)},
	{Alg: umbel.SipHash, Seed: fixture.Seed(2, 3)},
	{Alg: umbel.XXH64},
	{Alg: umbel.XXH64, Seed: fixture.Seed(4, 0)},
	{Alg: umbel.Murmur64A},
	{Alg: umbel.MD5},
	{Alg: umbel.Caller},
	{Alg: umbel.Murmur3},
	{Alg: umbel.SparkMurmur3, Seed: fixture.Seed(5, 0)},
}

func TestKeyIsBytes(t *testing.T) {
	for _, h := range hashers {
		if !h.HashesKeys() {
			continue
		}
		t.Run(h.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				key := rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "key")
				before := bytes.Clone(key)
				if h.HashString(string(key)) != h.HashBytes(key) {
					t.Fatal("HashString and HashBytes differ")
				}
				if !bytes.Equal(key, before) {
					t.Fatal("the key was changed")
				}
			})
			if h.HashBytes(nil) != h.HashString("") {
				t.Error("HashBytes(nil) isn't the digest of the empty key")
			}
		})
	}
}

// Each bit of the seed that an algorithm takes changes the digest.
func TestSeedsChangeDigests(t *testing.T) {
	for alg, bits := range map[umbel.Alg]int{umbel.XXH3: 64, umbel.XXH64: 64, umbel.SipHash: 128} {
		for _, key := range []string{"", "alice", strings.Repeat("long", 100)} {
			seen := map[umbel.Digest]bool{umbel.Hasher{Alg: alg}.HashString(key): true}
			for i := range bits {
				var b [16]byte
				b[i/8] = 1 << (i % 8)
				h := umbel.Hasher{Alg: alg, Seed: umbel.SeedFrom(b)}
				if err := h.Check(); err != nil {
					t.Fatal(err)
				}
				seen[h.HashString(key)] = true
			}
			if len(seen) != bits+1 {
				t.Errorf("%v: %d digests of %d seeds", alg, len(seen), bits+1)
			}
		}
	}
}

func TestHasherCheck(t *testing.T) {
	for _, h := range hashers {
		if err := h.Check(); err != nil {
			t.Errorf("%v: %v", h, err)
		}
	}
	for _, h := range []umbel.Hasher{
		{Alg: 6},
		{Alg: 255},
		{Alg: umbel.XXH3, Seed: fixture.Seed(0, 1)},
		{Alg: umbel.XXH64, Seed: fixture.Seed(1, 1<<63)},
		{Alg: umbel.Murmur64A, Seed: fixture.Seed(1, 0)},
		{Alg: umbel.MD5, Seed: fixture.Seed(0, 1)},
		{Alg: umbel.Murmur3, Seed: fixture.Seed(1, 0)},
		{Alg: umbel.SparkMurmur3, Seed: fixture.Seed(1<<32, 0)},
		{Alg: umbel.Caller, Seed: fixture.Seed(1<<56, 0)},
	} {
		if err := h.Check(); err == nil {
			t.Errorf("%v passes Check", h)
		}
	}
}

var sink umbel.Digest

func TestHashingDoesNotAllocate(t *testing.T) {
	for _, h := range hashers {
		if !h.HashesKeys() {
			continue
		}
		for _, n := range []int{0, 8, 32, 200, 1000} {
			key := string(xxhBuffer(n))
			allocs := testing.AllocsPerRun(100, func() {
				var onStack [1024]byte
				copy(onStack[:], key)
				sink = h.HashString(key)
				sink = h.HashBytes(onStack[:n])
				sink = h.HashUint64(uint64(n))
			})
			if allocs != 0 {
				t.Errorf("%v of %d bytes allocates %v times", h, n, allocs)
			}
		}
	}
}

func BenchmarkHasher(b *testing.B) {
	for _, h := range hashers {
		if !h.HashesKeys() {
			continue
		}
		variant := h.Alg.String()
		if h.Seed != (umbel.Seed{}) {
			variant += "-seeded"
		}
		for _, n := range []int{8, 32, 256} {
			key := string(xxhBuffer(n))
			b.Run(fmt.Sprintf("Key/%s/n=%d", variant, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					sink = h.HashString(key)
				}
			})
		}
	}
}

func littleEndian(d umbel.Digest) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, d.H1), d.H2)
}

// wantError fails unless err wraps the sentinel, if there is one, and contains want.
func wantError(t *testing.T, err, sentinel error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", want)
		return
	}
	if sentinel != nil && !errors.Is(err, sentinel) {
		t.Errorf("error %q doesn't wrap %q", err, sentinel)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error is %q, want %q in it", err, want)
	}
}
