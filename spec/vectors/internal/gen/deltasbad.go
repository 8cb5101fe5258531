package main

import (
	"strings"

	"github.com/umbel-filters/umbel"
)

func badDeltas() []deltaVector {
	const corrupt, limit, mismatch = "corrupt", "limit", "mismatch"
	var (
		bit      = scattered(40, 100, 30)
		counters = counted(41, 64, 2)
		base     = stateOf(bit, counters)
		result   = stateOf(changed(bit, 42, 3), counters)
		flip     = sameAs(0) + flipped + flips(bit, result.Arrays[0])
		rest     = sameAs(1) + kept // the array of counters
		good     = deltaOf(base, result, params, "\x02", flip, rest, noParts)
	)
	bad := func(name, expect, comment string, delta []byte) deltaVector {
		return deltaVector{name: name, expect: expect, comment: comment, base: base, delta: delta}
	}
	// first and second have another array, the one of bits or the one of counters, and all
	// else right.
	first := func(name, comment string, array ...string) deltaVector {
		return bad(name, corrupt, comment, deltaOf(base, result, params, "\x02", strings.Join(array, ""), rest, noParts))
	}
	second := func(name, comment string, array ...string) deltaVector {
		return bad(name, corrupt, comment, deltaOf(base, result, params, "\x02", flip, strings.Join(array, ""), noParts))
	}
	damaged := func(i int, mask byte) []byte {
		b := append([]byte(nil), good...)
		b[i] ^= mask
		return b
	}
	resealed := func(i int, mask byte) []byte { return sum(damaged(i, mask)[:len(good)-4]) }
	const resultAt, bytesAt, kindAt = 8 + 32, 8 + 32 + 32, 8 + 32 + 32 + 8
	blocks65 := emptyCells(65*blockCells, 1)

	return []deltaVector{
		bad("wrong-base", mismatch, "the base is another state", deltaOf(stateOf(bit), result, params, "\x02", flip, rest, noParts)),
		{name: "applied", expect: mismatch, comment: "the base is the result: the delta was applied before", base: result, delta: good},
		bad("magic", corrupt, "the magic of a container", resealed(3, 'd'^'e')),
		bad("version-0", corrupt, "version 0", resealed(7, 1)),
		bad("version-2", corrupt, "version 2", resealed(7, 3)),
		bad("checksum", corrupt, "one bit of the checksum is wrong", damaged(len(good)-1, 0x80)),
		bad("truncated", corrupt, "the last byte is missing", good[:len(good)-1]),
		bad("truncated-head", corrupt, "the head ends early, and the checksum fits", sum([]byte(deltaMagic+zeros(40)))),
		bad("truncated-change", corrupt, "the change ends early, and the checksum fits", deltaOf(base, result, params, "\x02", flip)),
		bad("trailing", corrupt, "0 notes between the change and the checksum", deltaOf(base, result, params, "\x02", flip, rest, noParts, "\x00")),
		bad("note-short", corrupt, "a note between the change and the checksum ends early",
			deltaOf(base, result, params, "\x02", flip, rest, noParts, one, note[:17])),
		bad("note-trailing", corrupt, "a byte follows the notes", deltaOf(base, result, params, "\x02", flip, rest, noParts, one, note, "\x00")),
		bad("planned-no-keys", corrupt, "a note of a plan for no key",
			deltaOf(base, result, params, "\x02", flip, rest, noParts, one, "\x01\x10", u64(0), note[10:])),
		bad("after", corrupt, "a byte follows", append(append([]byte(nil), good...), 0)),
		bad("kind-other", corrupt, "a kind that isn't the base's", resealed(kindAt+1, 'a'^'b')),
		bad("result-id", corrupt, "the result has another ID", resealed(resultAt, 1)),
		bad("result-bytes", corrupt, "the result takes fewer bytes", resealed(bytesAt, 8)),

		bad("params-index", corrupt, "parameter 0 of none", deltaOf(base, result, "\x01\x00"+u64(1), "\x02", flip, rest, noParts)),
		bad("params-twice", corrupt, "two parameters of one name", deltaOf(base, result, "\xff\x02\x01k\x00"+u64(1)+"\x01k\x00"+u64(1), "\x02", flip, rest, noParts)),
		{name: "params-nan", expect: corrupt, comment: "a parameter becomes no number", base: numbered(umbel.Float(1)),
			delta: deltaOf(numbered(umbel.Float(1)), stateOf(), "\x01\x00"+u64(0x7ff8<<48), none, noParts)},
		bad("part-index", corrupt, "refers to part 0 of a base without parts", deltaOf(base, result, params, "\x02", flip, rest, "\x01\x01"+params+none+noParts)),
		bad("parts-65536", corrupt, "65536 parts", deltaOf(base, result, params, "\x02", flip, rest, leb(65536), strings.Repeat("\x00"+least, 3))),
		bad("parts-long-form", corrupt, "the number of parts in a byte too many", deltaOf(base, result, params, "\x02", flip, rest, "\x80\x00")),
		{name: "too-deep", expect: corrupt, comment: "a state that is new, five deep", base: nested(3, stateOf()),
			delta: deltaOf(nested(3, stateOf()), nested(3, stateOf()), strings.Repeat(params+none+"\x01\x01", 3)+params+none+"\x01\x00"+least)},

		first("plane-index", "refers to array 2 of a base with two", sameAs(2), kept),
		first("form-5", "a form that version 1 doesn't know", "\x05\x00", kept),
		first("coding-5", "a coding that version 1 doesn't know, of those in containers", sameAs(0), "\x05"),
		first("coding-134", "a coding that version 1 doesn't know, of those in deltas", sameAs(0), "\x86"),
		first("new-kept", "a block of a plane that is new is kept", fresh(1, 100), kept),
		first("raw-beyond", "a bit is set behind the last of 100 cells", sameAs(0), raw, ones(16)),
		first("run-one", "a run of one block, kept", sameAs(0), keptRun, leb(1)),
		first("run-none", "a run of no blocks", sameAs(0), keptRun, leb(0), kept),
		first("run-beyond", "a run of two blocks, kept, of one", sameAs(0), keptRun, leb(2)),
		first("run-given-beyond", "a run of two blocks given the old, of one", sameAs(0), givenRun, leb(2), payload("\x00\x00")),
		{name: "run-65", expect: corrupt, comment: "a run of 65 blocks that has a payload", base: stateOf(blocks65),
			delta: deltaOf(stateOf(blocks65), stateOf(blocks65), params, one, sameAs(0), flippedRun, leb(65), payload("\x00"), noParts)},
		first("flipped-beyond", "a bit flips behind the last of 100 cells", sameAs(0), flipped, payload("\x01\x00"+zeros(12)+"\x10")),
		first("gaps-none", "no gap", sameAs(0), gaps, payload("\x00\x00\x00\x00\x00\x00")),
		first("gaps-length", "more bits of gaps than the array has", sameAs(0), gaps, payload("\xff\xff\x03\x00\x00"+zeros(6))),
		first("gaps-low-58", "58 low bits", sameAs(0), gaps, payload("\x01\x3a\x00"+zeros(4))),
		first("gaps-cut", "the strings are missing", sameAs(0), gaps, payload("\x01\x00\x00")),
		second("gaps-counters", "gaps between counters", sameAs(1), gaps, payload("\x01\x00\x00"+zeros(4))),
		first("listed-none", "lists without a change", sameAs(0), listing, payload("\x00\x00\x00")),
		first("listed-group-65", "groups of 65 words", sameAs(0), listing, payload("\x41\x01\x00\x01\x00\x00")),
		first("listed-beyond", "the 31st of 30 ones changes", sameAs(0), listing, payload("\x00\x01\x05\x3d\x00")),
		first("listed-after", "a byte follows the lists", sameAs(0), listing, payload("\x00\x00\x01\x00\x01\x00")),
		first("listed-group-beyond", "group 2 of two", sameAs(0), listing, payload("\x01\x01\x00\x04\x00\x00")),
		second("listed-counters-cut", "a counter is listed, its change is missing", sameAs(1), listing, payload("\x00\x01\x00\x01")),
		first("listed-run-beyond", "a listed run of two blocks, of one", sameAs(0), listingRun, leb(2), payload("\x00\x00\x01\x00\x01")),
		first("payload-of-words", "a payload as long as the words", sameAs(0), given, payload(zeros(16))),

		{name: "given-level-no-bits", expect: corrupt, comment: "a level for the bits that were ones, and there were none", base: stateOf(emptyCells(100, 1)),
			delta: deltaOf(stateOf(emptyCells(100, 1)), stateOf(emptyCells(100, 1)), params, one, sameAs(0), given, payload("\x01\x00"), noParts)},
		first("given-state-left", "the state isn't 0 in the end", sameAs(0), given, payload("\x00\x00\x01")),
		second("given-header-cut", "counters given the old without a header", sameAs(1), given, payload("\x00")),
		second("given-lengths", "numbers of 3 bits for counters of 2", sameAs(1), given, payload("\x02\x00"+zeros(11))),
		counterGiven("given-above", "a counter of 2 bits that rises from 3 to 4", 3, "\x00\x00\x00\x00\x00\x14\x00\x00\xb5\x07"),
		counterGiven("given-below", "a counter of 2 bits that falls from 2 by 3", 2, "\x00\x01\x00\x00\x14\x00\x00\x00\x00\xb5\xb5\x07"),

		first("fold-0", "a fold by 0", foldOf(0, 0, 1), kept),
		first("fold-group-0", "a fold in groups of no cells", foldOf(0, 2, 0), kept),
		first("fold-factor", "a fold of 100 cells by 3", foldOf(0, 3, 1), kept),
		first("fold-group", "a fold of 100 cells by 2 in groups of 3", foldOf(0, 2, 3), kept),
		first("fold-group-factor", "a fold of 100 cells by 4 in groups of 50", foldOf(0, 4, 50), kept),
		first("unfold-0", "an unfold by 0", unfoldOf(0, 0, 1)),
		first("unfold-group", "an unfold of 100 cells in groups of 3", unfoldOf(0, 2, 3), kept),
		first("unfold-2-64", "an unfold to 2^64 cells and more", unfoldOf(0, 1<<58, 1), kept),
		first("unfold-many-blocks", "an unfold to more blocks than there are bytes", unfoldOf(0, 1<<20, 1), kept),
		first("unfold-run", "a run where a plane unfolds", unfoldOf(0, 1<<13, 1), keptRun, leb(2), zeros(8)),
		first("refine-1", "a plane that refines itself", refineOf(0, 1, 1), payload("")),
		first("refine-67", "a plane that refines by 67", refineOf(0, 67, 1), payload(zeros(67))),
		first("refine-4098", "a plane that refines by 4098", refineOf(0, 4098, 1), payload(zeros(700))),
		first("refine-group", "a plane that refines in groups of 3 of 100 cells", refineOf(0, 2, 3), payload(zeros(2))),
		second("refine-counters", "counters that refine", refineOf(1, 2, 1), payload(zeros(2))),
		first("refine-level", "a level for a string without bits", refineOf(0, 2, 1), payload("\x00\x01")),
		first("refine-long", "a unit as long as its bits and what is granted besides", refineOf(0, 2, 1), payload(zeros(200/8+4*2+64))),

		bad("bytes-1-tib", limit, "a result said to take 1 TiB", deltaOfBytes(base, result, 1<<40, params, "\x02", flip, rest, noParts)),
		bad("new-1-tib", limit, "a plane that is new, said to have 2^43 cells, where the result is said to take less",
			deltaOf(base, result, params, "\x02", fresh(1, 1<<43), raw, rest, noParts)),
		bad("unfold-1-tib", limit, "an unfold to 1 TiB, where the result is said to take less",
			deltaOf(base, result, params, "\x02", unfoldOf(0, 1<<37, 1), kept, rest, noParts)),
	}
}

// counterGiven returns a vector in which 40 equal counters of 2 bits have a payload that no
// change of them gives.
func counterGiven(name, comment string, was uint64, code string) deltaVector {
	a := emptyCells(40, 2)
	for i := range a.Len {
		a.Put(i, was)
	}
	s := stateOf(a)
	return deltaVector{name: name, expect: "corrupt", comment: comment, base: s, delta: deltaOf(s, s, params, one, sameAs(0), given, payload(code), noParts)}
}
