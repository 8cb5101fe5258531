package main

import (
	"bytes"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// The fields of short deltas.
const (
	shortDeltaMagic = "\x89d\x02"
	regular         = "\x00" // the change of a kind without a number, whose name follows
	general         = "\x80"
)

// shortDelta returns a delta of version 2 with the fields between the IDs and the checksum.
func shortDelta(base, result umbel.State, fields ...string) []byte {
	from, to := hashtree.Identify(base), hashtree.Identify(result)
	return sum([]byte(shortDeltaMagic + string(from[:4]) + string(to[:8]) + strings.Join(fields, "")))
}

func goodShortDeltas() []deltaVector {
	bit, other := scattered(50, 2000, 700), scattered(51, 640, 60)
	bloom := umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}, {Name: "group", Value: umbel.Uint(0)}}}
	first, second := bloom, bloom
	first.Arrays, second.Arrays = append(first.Arrays, bit), append(second.Arrays, changed(bit, 52, 9))
	nested := func(s umbel.State) umbel.State {
		outer := stateOf(other)
		outer.Parts = []umbel.State{s, stateOf()}
		return outer
	}
	made := func(name, comment string, base, result umbel.State, fields ...string) deltaVector {
		return deltaVector{"short-" + name, "ok", comment, base, result, shortDelta(base, result, fields...)}
	}
	listed := listing + listOfBits(bit, second.Arrays[0])
	return []deltaVector{
		made("nothing", "base and result are one state, without planes", stateOf(), stateOf(), regular, kind),
		made("regular", "a regular change of kind bloom, which has a number", first, second, "\x01", listed),
		made("regular-parts", "a regular change: a plane that is kept, and one of a part", nested(first), nested(second), regular, kind, kept, listed),
		made("general", "the same as a general change of kind bloom", first, second, "\x81", leb(256), params, one, sameAs(0), listed, noParts),
		made("params", "a whole number, a float and a float that becomes negative zero have other values",
			numbered(umbel.Uint(7), umbel.Float(0.5), umbel.Float(1)), numbered(umbel.Uint(1<<63), umbel.Float(0.01), umbel.Float(1.0/3)),
			general, kind, leb(0), "\x03", "\x00", leb(1<<63), "\x01", decimal(1, 2), "\x02", rawFloat(1.0/3), none, noParts),
		made("params-all", "all parameters are others", numbered(umbel.Uint(7)), numbered(umbel.Float(1), umbel.Uint(300)),
			general, kind, leb(0), "\xff", "\x02", "\x01a", one, decimal(1, 0), "\x01b", "\x00", leb(300), none, noParts),
		made("new", "a plane that is new, and a part that is new", stateOf(bit), nested(first),
			general, kind, leb(first.Bytes()+other.Bytes()), params, one, "\x00\x01", leb(640), arithmetic, payload(payloadOf(other)), "\x02",
			"\x00", "\x01\x03\x00", leb(2000), blocksOf(bit), "\x00", "\x00", kind),
		made("planned", "the result is planned for 1000 keys with a rate of 1 %, and its ticks are seconds", stateOf(bit),
			with(stateOf(bit), umbel.Planned{Keys: 1000, FPRate: 0.01}, 1e9), regular, kind, kept, "\x30", leb(1000), decimal(1, 2), leb(1e9)),
		made("planned-kept", "a base with notes, and a delta without: the notes stay",
			with(stateOf(bit), umbel.Planned{Keys: 7, FPRate: 0.5}, 1e9), with(stateOf(bit), umbel.Planned{Keys: 7, FPRate: 0.5}, 1e9), regular, kind, kept),
	}
}

func badShortDeltas() []deltaVector {
	const corrupt = "corrupt"
	bit := scattered(53, 100, 30)
	base, result := stateOf(bit), stateOf(changed(bit, 54, 3))
	flip := flipped + flips(bit, result.Arrays[0])
	good := shortDelta(base, result, regular, kind, flip)
	bad := func(name, expect, comment string, delta []byte) deltaVector {
		return deltaVector{name: "short-" + name, expect: expect, comment: comment, base: base, delta: delta}
	}
	damaged := func(i int, mask byte) []byte {
		b := bytes.Clone(good)
		b[i] ^= mask
		return b
	}
	resealed := func(i int, mask byte) []byte { return sum(damaged(i, mask)[:len(good)-4]) }
	of := func(fields ...string) []byte { return shortDelta(base, result, fields...) }
	return []deltaVector{
		bad("wrong-base", "mismatch", "the base is another state", shortDelta(stateOf(), result, regular, kind, flip)),
		{name: "short-applied", expect: "mismatch", comment: "the base is the result: the delta was applied before", base: result, delta: good},
		bad("version-1", corrupt, "version 1 with the magic of version 2", resealed(2, 3)),
		bad("version-3", corrupt, "version 3", resealed(2, 1)),
		bad("checksum", corrupt, "one bit of the checksum is wrong", damaged(len(good)-1, 0x80)),
		bad("truncated", corrupt, "the last byte is missing", good[:len(good)-1]),
		bad("truncated-head", corrupt, "the head ends early, and the checksum fits", sum([]byte(shortDeltaMagic+zeros(11)))),
		bad("kind-other", corrupt, "a kind that isn't the base's", of("\x01", flip)),
		bad("kind-number", corrupt, "kind 127", of("\x7f", flip)),
		bad("result-id", corrupt, "the result has another ID", resealed(3+4+7, 1)),
		bad("result-bytes", corrupt, "a general change whose result takes fewer bytes", of(general, kind, leb(8), params, one, sameAs(0), flip, noParts)),
		bad("params-nan", corrupt, "all parameters are others, and one is no number",
			of(general, kind, leb(16), "\xff\x01\x01k\x01", "\x1f"+u64(0x7ff8<<48), one, sameAs(0), flip, noParts)),
		bad("trailing", corrupt, "notes without a flag", of(regular, kind, flip, "\x00")),
		bad("note-unknown", corrupt, "a flag that stands for no note", of(regular, kind, flip, "\x08")),
		bad("note-trailing", corrupt, "a byte follows the notes", of(regular, kind, flip, "\x20\x01\x00")),
		bad("bytes-1-tib", "limit", "a result said to take 1 TiB", of(general, kind, leb(1<<40), params, one, sameAs(0), flip, noParts)),
		bad("new-1-tib", "limit", "a plane that is new, said to have 2^43 cells, where the result is said to take less",
			of(general, kind, leb(16), params, one, "\x00\x01", leb(1<<43), raw, noParts)),
	}
}
