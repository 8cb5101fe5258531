package main

import (
	"math"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire"
)

// The fields of short containers.
const (
	shortMagic = "\x89u\x03"
	unnumbered = "\x80" // a kind without a number, flags follow
	ofHasher   = 1
	ofParams   = 2
	ofWidths   = 4
	ofParts    = 8
	ofPlanned  = 16
	ofTick     = 32
)

// short returns a container of version 3.
func short(fields ...string) []byte { return sum([]byte(shortMagic + strings.Join(fields, ""))) }

// flagged returns the beginning of a state of an unknown kind.
func flagged(flags byte) string { return unnumbered + string([]byte{flags}) + kind }

// rawFloat returns a float of 9 bytes.
func rawFloat(v float64) string { return "\x1f" + u64(math.Float64bits(v)) }

// decimal returns the float n/10^e.
func decimal(n, e uint64) string { return leb(32*n + e) }

func goodShort() []containerVector {
	least := "\x00" + kind
	v := []containerVector{
		{"short", "", "a state without params, planes and parts", short(least)},
		{"short-no-flags", "", "flags of which none is set", short(flagged(0))},
		{"short-params", "", "whole numbers, the largest one, floats by n/10^e, one of 8 bytes, negative zero", short(flagged(ofParams), "\x07",
			"\x01k", none, leb(7), "\x03max", none, leb(math.MaxUint64), "\x04rate", one, decimal(1, 2), "\x05other", one, decimal(1<<53-1, 22),
			"\x04zero", one, decimal(0, 0), "\x05third", one, rawFloat(1.0/3), "\x08neg-zero", one, rawFloat(math.Copysign(0, -1)))},
		{"short-float-long", "", "floats that could be shorter: 0.5 as 50/100, and in 8 bytes", short(flagged(ofParams), "\x02",
			"\x01a", one, decimal(50, 2), "\x01b", one, rawFloat(0.5))},
		{"short-seed", "", "a seed of 16 bytes", short(flagged(ofHasher), "\x01\x10", "0123456789abcdef")},
		{"short-seed-short", "", "a seed of 3 bytes, the others are zero", short(flagged(ofHasher), "\x01\x03", "abc")},
		{"short-widths", "", "a plane of three cells of each of two widths, and one of no cells", short(flagged(ofWidths), "\x03",
			"\x01", leb(3), arithmetic, payload(payloadOf(cellsOf(1, []uint64{1, 0, 1}))), "\x08", leb(3), raw, u64(0x010203), "\x40", leb(0))},
		{"short-blocks", "", "three blocks of 64 KiB, the last 3 bits short: empty, full, full",
			short(flagged(ofWidths), one, "\x01", leb(3<<19-3), empty, full, full)},
		{"short-contiguous", "", "a contiguous plane after 3 bytes of padding",
			short(flagged(ofWidths), one, "\x01", leb(100), contiguous, "\x03", zeros(3), ones(12), "\x0f", zeros(3))},
		{"short-parts", "", "parts in parts, of which one has the hasher of the whole, and the part of the other another one", short(
			flagged(ofHasher|ofParts), "\x01\x01s", leb(2), least, flagged(ofParts), leb(1), flagged(ofHasher), "\x00\x00")},
		{"short-planned", "", "planned for a rate of 1 % with 1000 keys", short(flagged(ofPlanned), leb(1000), decimal(1, 2))},
		{"short-tick-planned", "", "both notes: planned for the most keys at the lowest rate, and the longest tick",
			short(flagged(ofPlanned|ofTick), leb(math.MaxUint64), rawFloat(math.SmallestNonzeroFloat64), leb(1<<63-1))},
	}
	for i := range v {
		v[i].form = formOf(v[i].bytes)
	}
	return v
}

func badShort() []containerVector {
	const corrupt = "corrupt"
	good := short(flagged(ofWidths), one, "\x01", leb(64), raw, u64(0xfedcba9876543210))
	last := len(good) - 1
	damaged := func(i int, mask byte) []byte {
		b := slices.Clone(good)
		b[i] ^= mask
		return b
	}
	version := func(v byte) []byte {
		return sum(append([]byte(shortMagic[:2]), append([]byte{v}, good[3:last-3]...)...))
	}
	float := func(value string) []byte { return short(flagged(ofParams), one, "\x01k", one, value) }
	bloom := func(cells string) []byte { return short("\x01\x03\x00", cells) } // kind 1, k = 3, group = 0
	return []containerVector{
		{"short-version-2", corrupt, "the magic of a short container with version 2", version(2)},
		{"short-version-4", corrupt, "a short container of version 4", version(4)},
		{"short-checksum", corrupt, "one bit of the checksum is wrong", damaged(last, 0x80)},
		{"short-bit-flip", corrupt, "one bit of a word is wrong", damaged(last-10, 1)},
		{"short-truncated", corrupt, "the last byte is missing", good[:last]},
		{"short-trailing", corrupt, "a byte follows", append(slices.Clone(good), 0)},
		{"short-kind-number", corrupt, "kind 127", short("\x7f")},
		{"short-kind-none", corrupt, "a kind without a name", short("\x00\x00")},
		{"short-flags", corrupt, "flags of which one is unknown", short(flagged(64))},
		{"short-part-planned", corrupt, "a part with a note", short(flagged(ofParts), leb(1), flagged(ofPlanned), leb(1), decimal(1, 1))},
		{"short-parts-missing", corrupt, "of two parts one is there", short(flagged(ofParts), leb(2), "\x00"+kind)},
		{"short-too-deep", corrupt, "five states deep", short(strings.Repeat(flagged(ofParts)+leb(1), umbel.MaxDepth), "\x00"+kind)},
		{"short-seed-zero", corrupt, "a seed whose last byte is zero", short(flagged(ofHasher), "\x01\x02s\x00")},
		{"short-seed-long", corrupt, "a seed of 17 bytes", short(flagged(ofHasher), "\x01\x11", "0123456789abcdefg")},
		{"short-seed-not-taken", corrupt, "MD5 with a seed", short(flagged(ofHasher), "\x04\x01s")},
		{"short-hash-unknown", corrupt, "hash algorithm 9", short(flagged(ofHasher), "\x09\x00")},
		{"short-param-cut", corrupt, "of the two parameters of kind bloom one is there", short("\x01\x03")},
		{"short-param-long-form", corrupt, "a parameter in a byte too many", short("\x01\x83\x00\x00", leb(0))},
		{"short-param-2-64", corrupt, "a parameter of 2^64", short("\x01", strings.Repeat("\x80", 9), "\x02\x00", leb(0))},
		{"short-param-twice", corrupt, "a further parameter k of kind bloom",
			short("\x81", string([]byte{ofParams}), "\x03\x00", one, "\x01k", none, leb(3), leb(0))},
		{"short-float-2-53", corrupt, "a float of 2^53/10^0", float(decimal(1<<53, 0))},
		{"short-float-23", corrupt, "a float of 1/10^23", float(decimal(1, 23))},
		{"short-float-63", corrupt, "a float of 1/10^31", float(leb(63))},
		{"short-float-infinite", corrupt, "a float that is infinite", float(rawFloat(math.Inf(1)))},
		{"short-width-3", corrupt, "a plane of cells of 3 bits", short(flagged(ofWidths), one, "\x03", leb(0))},
		{"short-planned-no-keys", corrupt, "planned for no key", short(flagged(ofPlanned), leb(0), decimal(1, 2))},
		{"short-planned-rate-1", corrupt, "planned for a rate of 1", short(flagged(ofPlanned), leb(1), decimal(1, 0))},
		{"short-tick-0", corrupt, "a tick of 0 nanoseconds", short(flagged(ofTick), leb(0))},
		{"short-tick-long", corrupt, "a tick of 2^63 nanoseconds", short(flagged(ofTick), leb(1<<63))},
		{"short-cells-too-many", corrupt, "more than 2^56 bytes of cells", bloom(leb(1<<60) + empty)},
		{"short-plane-1-tib", "limit", "a plane said to have 2^43 cells, 1 TiB", bloom(leb(1<<43) + raw + zeros(64))},
	}
}

// packedFile returns the vector of a packed filter, whose vector in the form in which it is written by default is f.
func packedFile(f file, s umbel.State) (file, error) {
	b, err := wire.Packer{}.Append(nil, s)
	if err != nil {
		return file{}, err
	}
	f.Path = strings.TrimSuffix(f.Path, ".txt") + "-packed.txt"
	f.Header = slices.Clone(f.Header)
	for i, h := range f.Header {
		if h[0] == "form" {
			f.Header[i][1] = "packed"
		}
	}
	f.Body = vector.HexLines(b)
	return f, nil
}

// longPacked returns the container of version 1 or 2 in which each block of s has the shortest of the codings 0 to 4, as
// packers wrote it before the short form.
func longPacked(s umbel.State) []byte {
	body := longState(s)
	if s.Notes == (umbel.Notes{}) {
		return sealed(body)
	}
	list := ""
	number := byte(0)
	if p := s.Planned; p != (umbel.Planned{}) {
		number++
		list += "\x01\x10" + u64(p.Keys) + u64(math.Float64bits(p.FPRate))
	}
	if s.Tick != 0 {
		number++
		list += "\x03\x08" + u64(s.Tick)
	}
	return noted(body, string([]byte{number}), list)
}

func longState(s umbel.State) string {
	var b strings.Builder
	name := func(text string) { b.WriteString(string([]byte{byte(len(text))}) + text) }
	seed := s.Hasher.Seed.Bytes()
	name(s.Kind)
	b.WriteString(string([]byte{byte(s.Hasher.Alg)}) + string(seed[:]) + string([]byte{byte(len(s.Params))}))
	for _, p := range s.Params {
		name(p.Name)
		if p.Value.IsFloat() {
			b.WriteString(one)
		} else {
			b.WriteString(none)
		}
		b.WriteString(u64(p.Value.Bits()))
	}
	b.WriteByte(byte(len(s.Arrays)))
	for _, a := range s.Arrays {
		b.WriteString(string([]byte{byte(a.Width)}) + u64(a.Len) + blocksOf(a))
	}
	b.WriteString(u16(uint16(len(s.Parts))))
	for _, p := range s.Parts {
		b.WriteString(longState(p))
	}
	return b.String()
}
