package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// containers returns vectors that test the container and not a kind. They are written by hand,
// so they don't depend on the code under test.
func containers() []file {
	return containerVectors("container", append(goodContainers(), goodShort()...), append(badContainers(), badShort()...))
}

// containerVectors returns vectors of containers with unknown kinds.
func containerVectors(folder string, good, bad []containerVector) []file {
	var files []file
	for _, v := range good {
		s, err := wire.Parse(v.bytes, wire.Limits{})
		if err != nil {
			panic("gen: " + v.name + ": " + err.Error())
		}
		files = append(files, file{
			Path: folder + "/" + v.name + ".txt",
			Header: []field{
				{"comment", v.comment},
				{"expect", "unknown-kind"},
				{"kind", s.Kind},
				{"form", v.form},
				{"id", hashtree.Identify(s).String()},
			},
			Body: vector.HexLines(v.bytes),
		})
		last := &files[len(files)-1]
		last.Header = append(last.Header, notes(s)...)
	}
	for _, v := range bad {
		files = append(files, file{
			Path:   folder + "/" + v.name + ".txt",
			Header: []field{{"comment", v.comment}, {"expect", v.form}},
			Body:   vector.HexLines(v.bytes),
		})
	}
	return files
}

// notes returns the fields of the notes of s.
func notes(s umbel.State) (fields []field) {
	if p := planned(s.Planned); p != "" {
		fields = append(fields, field{"planned", p})
	}
	if p := tick(s); p != "" {
		fields = append(fields, field{"tick", p})
	}
	return fields
}

// planned returns the keys and the rate of p, and nothing if p is zero.
func planned(p umbel.Planned) string {
	if p == (umbel.Planned{}) {
		return ""
	}
	return fmt.Sprintf("%d %v", p.Keys, p.FPRate)
}

// tick returns the nanoseconds of a tick, and nothing if they are unknown.
func tick(s umbel.State) string {
	if s.Tick == 0 {
		return ""
	}
	return strconv.FormatUint(s.Tick, 10)
}

// containerVector is a vector of a container. expect is the form in the header, or the error if
// the container is refused.
type containerVector struct {
	name, form, comment string
	bytes               []byte
}

const (
	magic  = "\x89umbel\n\x01"
	kind   = "\x09a.example"
	seed   = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	hasher = "\x00" + seed
	none   = "\x00"     // no params, no arrays
	one    = "\x01"     // one of them follows
	alone  = "\x00\x00" // no parts
	head   = kind + hasher + none
	least  = head + none + alone // a state of nothing
	raw    = "\x00"
	// a note of type 1: 1000 keys with a rate of 0.01
	note  = "\x01\x10" + "\xe8\x03\x00\x00\x00\x00\x00\x00" + "\x7b\x14\xae\x47\xe1\x7a\x84\x3f"
	empty = "\x01"
	full  = "\x02"

	contiguous = "\x05"
)

func u16(v uint16) string  { return string(binary.LittleEndian.AppendUint16(nil, v)) }
func u64(v uint64) string  { return string(binary.LittleEndian.AppendUint64(nil, v)) }
func ones(n int) string    { return strings.Repeat("\xff", n) }
func zeros(n int) string   { return strings.Repeat("\x00", n) }
func bits(n uint64) string { return "\x01" + u64(n) } // the head of an array of bits

// sealed returns the magic, the fields and the checksum of both.
func sealed(fields ...string) []byte { return sum([]byte(magic + strings.Join(fields, ""))) }

// noted is sealed for a container of version 2.
func noted(fields ...string) []byte {
	return sum([]byte(magic[:7] + "\x02" + strings.Join(fields, "")))
}

func sum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func goodContainers() []containerVector {
	const small = "written"
	blocks := bits(3<<19-3) + empty + full
	return []containerVector{
		{"least", small, "a state without params, planes and parts", sealed(least)},
		{"params", small, "a whole number, the largest one, a float, negative zero, the smallest float", sealed(kind, hasher, "\x05",
			"\x01k", none, u64(7), "\x03max", none, ones(8), "\x04rate", one, u64(0x3f847ae147ae147b),
			"\x08neg-zero", one, u64(1<<63), "\x04tiny", one, u64(1), none, alone)},
		{"seed", small, "a seed of 16 bytes", sealed(kind, "\x01", "0123456789abcdef", none, none, alone)},
		{"widths", small, "a plane of three cells for each width: 1, 2, 4, 8, 16, 32, 64", sealed(head, "\x07",
			"\x01", u64(3), raw, u64(0b101), "\x02", u64(3), raw, u64(0b100111), "\x04", u64(3), raw, u64(0xa5f),
			"\x08", u64(3), raw, u64(0x010203), "\x10", u64(3), raw, u64(0x000100020003), "\x20", u64(3), raw, u64(1<<32|2), u64(3),
			"\x40", u64(3), raw, u64(1), u64(2), u64(3), alone)},
		{"no-cells", small, "a plane of no cells has no blocks", sealed(head, one, bits(0), alone)},
		{"empty", small, "100 cells, all zero", sealed(head, one, bits(100), empty, alone)},
		{"full", small, "100 cells, all ones: the 28 bits beyond the last stay zero", sealed(head, one, bits(100), full, alone)},
		{"full-canonical", "canonical", "the state of full.txt, and its ID, in canonical form", sealed(head, one, bits(100), raw, ones(12), "\x0f", zeros(3), alone)},
		{"empty-raw", "canonical", "the state of empty.txt, and its ID, in canonical form", sealed(head, one, bits(100), raw, zeros(16), alone)},
		{"blocks", small, "three blocks of 64 KiB, the last 3 bits short: empty, full, full", sealed(head, one, blocks, full, alone)},
		{"blocks-short", small, "a block of 64 KiB that is full, and one of a single word",
			sealed(head, one, bits(1<<19+64), full, raw, u64(0xfedcba9876543210), alone)},
		{"contiguous", "other", "two contiguous planes, the words of the first after 16 bytes of padding, at byte 64, those of " +
			"the second after none", sealed(head, "\x02",
			bits(100), contiguous, "\x10", zeros(16), ones(12), "\x0f", zeros(3), "\x08"+u64(3), contiguous, "\x00", u64(0x010203), alone)},
		{"contiguous-blocks", "other", "a contiguous plane of two blocks, all ones, the second of 100 cells", sealed(head, one,
			bits(1<<19+100), contiguous, "\x3f", zeros(63), ones(1<<16+12), "\x0f", zeros(3), alone)},
		{"parts", small, "parts in parts, four states deep", sealed(head, none, u16(2), least, head, none, u16(1), head, none, u16(1), least)},
		{"part", small, "parts 1 and 3 of the 3 parts of a filter of kind bloom, with 2 keys (spec/part.md)", sealed("\x04part", hasher,
			"\x03", "\x06inputs", none, u64(0x0123456789abcdef), "\x05cells", none, u64(0), "\x04keys", none, u64(2), one, bits(3), raw, u64(0b101), u16(1),
			"\x05bloom", hasher, "\x02", "\x01k", none, u64(2), "\x05group", none, u64(0), one, bits(9), raw, u64(0b100101100), alone)},
		{"planned", small, "the state of least.txt, and its ID, planned for a rate of 1 % with 1000 keys", noted(least, one, note)},
		{"planned-canonical", "other", "the state of full.txt, and its ID, planned for 1000 keys, with a raw block",
			noted(head, one, bits(100), raw, ones(12), "\x0f", zeros(3), alone, one, note)},
		{"planned-extreme", small, "the most keys, and the lowest rate", noted(least, one, "\x01\x10", ones(8), u64(1))},
		{"tick", small, "the state of least.txt, and its ID, whose ticks are seconds since 1970", noted(least, one, "\x03\x08", u64(1e9))},
		{"tick-planned", small, "both notes: planned, and the longest tick", noted(least, "\x02", note, "\x03\x08", u64(1<<63-1))},
		{"note-unknown", "other", "notes of type 0, 1 and 255, of which the first and the last, of 255 bytes, are unknown",
			noted(least, "\x03", "\x00\x00", note, "\xff\xff", ones(255))},
		{"note-only-unknown", "other", "an unknown note, so that nothing is known of the plan", noted(least, one, "\x02\x01\x00")},
	}
}

func badContainers() []containerVector {
	const corrupt, limit = "corrupt", "limit"
	good := sealed(head, one, bits(64), raw, u64(0xfedcba9876543210), alone)
	damaged := func(i int, mask byte) []byte {
		b := append([]byte(nil), good...)
		b[i] ^= mask
		return b
	}
	resealed := func(i int, c byte) []byte {
		b := append([]byte(nil), good[:len(good)-4]...)
		b[i] = c
		return sum(b)
	}
	number := func(name, kind string, v uint64) string { return string(rune(len(name))) + name + kind + u64(v) }
	deep := strings.Repeat(head+none+u16(1), umbel.MaxDepth) + least
	return []containerVector{
		{"magic", corrupt, "the first byte isn't that of a container", resealed(0, 0x88)},
		{"version-0", corrupt, "version 0", resealed(7, 0)},
		{"version-2", corrupt, "version 2 without notes", resealed(7, 2)},
		{"version-3", corrupt, "version 3", resealed(7, 3)},
		{"notes-none", corrupt, "version 2 with no note", noted(least, "\x00")},
		{"note-missing", corrupt, "of two notes one is there", noted(least, "\x02", note)},
		{"note-twice", corrupt, "two notes of type 1", noted(least, "\x02", note, note)},
		{"note-order", corrupt, "a note of type 1 after one of type 2", noted(least, "\x02", "\x02\x00", note)},
		{"note-short", corrupt, "a note ends early, and the checksum fits", noted(least, one, note[:17])},
		{"note-in-version-1", corrupt, "notes in a container of version 1", sealed(least, one, note)},
		{"planned-length", corrupt, "a note of type 1 of 8 bytes", noted(least, one, "\x01\x08", u64(1000))},
		{"planned-no-keys", corrupt, "planned for no key", noted(least, one, "\x01\x10", u64(0), note[10:])},
		{"planned-nothing", corrupt, "planned for no key and a rate of 0", noted(least, one, "\x01\x10", zeros(16))},
		{"planned-rate-0", corrupt, "planned for a rate of 0", noted(least, one, note[:10], u64(0))},
		{"planned-rate-1", corrupt, "planned for a rate of 1", noted(least, one, note[:10], u64(0x3ff0<<48))},
		{"planned-rate-negative", corrupt, "planned for a negative rate", noted(least, one, note[:10], u64(0xbf84<<48))},
		{"planned-rate-nan", corrupt, "planned for a rate that is no number", noted(least, one, note[:10], u64(0x7ff8<<48))},
		{"planned-rate-infinite", corrupt, "planned for an infinite rate", noted(least, one, note[:10], u64(0x7ff0<<48))},
		{"tick-length", corrupt, "a note of type 3 of 4 bytes", noted(least, one, "\x03\x04", zeros(4))},
		{"tick-0", corrupt, "a tick of 0 nanoseconds", noted(least, one, "\x03\x08", u64(0))},
		{"tick-long", corrupt, "a tick of 2^63 nanoseconds", noted(least, one, "\x03\x08", u64(1<<63))},
		{"checksum", corrupt, "one bit of the checksum is wrong", damaged(len(good)-1, 0x80)},
		{"bit-flip", corrupt, "one bit of a word is wrong", damaged(len(good)-10, 1)},
		{"truncated", corrupt, "the last byte is missing", good[:len(good)-1]},
		{"truncated-block", corrupt, "a block ends early, and the checksum fits", sealed(head, one, bits(128), raw, zeros(8))},
		{"trailing", corrupt, "a byte follows", append(append([]byte(nil), good...), 0)},
		{"kind-none", corrupt, "a kind without a name", sealed("\x00", hasher, none, none, alone)},
		{"kind-long", corrupt, "a kind of 65 characters", sealed("\x41", strings.Repeat("a", 65), hasher, none, none, alone)},
		{"kind-capital", corrupt, "a kind with a capital letter", sealed("\x01A", hasher, none, none, alone)},
		{"hash-unknown", corrupt, "hash algorithm 6", sealed(kind, "\x06", seed, none, none, alone)},
		{"seed-not-taken", corrupt, "MD5 with a seed", sealed(kind, "\x04\x01", seed[1:], none, none, alone)},
		{"seed-long", corrupt, "XXH3-128 with a byte of the seed's second half set", sealed(kind, "\x00", seed[:8], "\x01", seed[:7], none, none, alone)},
		{"param-type", corrupt, "a parameter of type 2", sealed(kind, hasher, one, number("k", "\x02", 7), none, alone)},
		{"param-nan", corrupt, "a parameter that is no number", sealed(kind, hasher, one, number("k", "\x01", 0x7ff8<<48), none, alone)},
		{"param-infinite", corrupt, "a parameter that is infinite", sealed(kind, hasher, one, number("k", "\x01", 0xfff0<<48), none, alone)},
		{"param-name", corrupt, "a parameter whose name has an underscore", sealed(kind, hasher, one, number("a_b", "\x00", 7), none, alone)},
		{"param-twice", corrupt, "two parameters of one name", sealed(kind, hasher, "\x02", number("k", "\x00", 7), number("k", "\x00", 8), none, alone)},
		{"width-0", corrupt, "a plane of cells without bits", sealed(head, one, "\x00", u64(0), alone)},
		{"width-3", corrupt, "a plane of cells of 3 bits", sealed(head, one, "\x03", u64(0), alone)},
		{"width-128", corrupt, "a plane of cells of 128 bits", sealed(head, one, "\x80", u64(0), alone)},
		{"cells-too-many", corrupt, "more than 2^56 bytes of cells", sealed(head, one, "\x40", ones(8), alone)},
		{"bits-beyond", corrupt, "a bit is set behind the last of 63 cells", sealed(head, one, bits(63), raw, u64(1<<63), alone)},
		{"coding-unknown", corrupt, "a block in a coding that version 1 doesn't know", sealed(head, one, bits(64), "\xff", alone)},
		{"contiguous-long", corrupt, "padding of 64 bytes", sealed(head, one, bits(64), contiguous, "\x40", zeros(64), u64(1), alone)},
		{"contiguous-padding", corrupt, "padding that isn't zero", sealed(head, one, bits(64), contiguous, "\x02", "\x00\x01", u64(1), alone)},
		{"contiguous-cut", corrupt, "the words of a contiguous plane end early, and the checksum fits", sealed(head, one, bits(128), contiguous, "\x00", u64(1))},
		{"contiguous-beyond", corrupt, "a bit is set behind the last of 63 cells of a contiguous plane",
			sealed(head, one, bits(63), contiguous, "\x00", u64(1<<63), alone)},
		{"contiguous-second", corrupt, "the second block begins a contiguous run", sealed(head, one, bits(1<<19+64), full, contiguous, "\x00", u64(1), alone)},
		{"too-deep", corrupt, "five states deep", sealed(deep)},
		{"parts-missing", corrupt, "of two parts one is there", sealed(head, none, u16(2), least)},
		{"plane-1-tib", limit, "a plane said to have 2^43 cells, 1 TiB", sealed(head, one, bits(1<<43), raw, zeros(64), alone)},
		{"planes-1-gib", limit, "a plane of 64 KiB and one of 1 GiB, both empty", sealed(head, "\x02",
			bits(1<<19), empty, bits(1<<33), strings.Repeat(empty, 1<<14), alone)},
	}
}
