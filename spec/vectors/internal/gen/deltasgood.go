package main

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/delta"
)

func goodDeltas() []deltaVector {
	var (
		bit     = scattered(1, 2000, 700)
		half    = scattered(15, 1<<18, 20)
		many    = heavy(2*blockCells/64 + 50)
		byteful = counted(2, 300, 8)
		wide    = joined(scattered(3, blockCells, 30), emptyCells(blockCells, 1), fullCells(1000))
		last    = joined(scattered(3, blockCells, 30), emptyCells(blockCells, 1), scattered(4, 1000, 50))
	)
	v := []deltaVector{
		handMade("nothing", "base and result are one state, without planes", stateOf(), stateOf(), params, none, noParts),
		handMadeNotes("planned", "the result is planned for 1000 keys with a rate of 1 %, and nothing is known of the base",
			stateOf(bit), with(stateOf(bit), umbel.Planned{Keys: 1000, FPRate: 0.01}, 0), one, note),
		handMadeNotes("planned-kept", "a base with notes, and a delta without: the notes stay",
			with(stateOf(bit), umbel.Planned{Keys: 7, FPRate: 0.5}, 1e9), with(stateOf(bit), umbel.Planned{Keys: 7, FPRate: 0.5}, 1e9)),
		handMadeNotes("planned-other", "the notes of the delta replace those of the base, and an unknown one is skipped",
			with(stateOf(bit), umbel.Planned{Keys: 7, FPRate: 0.5}, 1e9), with(stateOf(bit), umbel.Planned{Keys: 1000, FPRate: 0.01}, 0), "\x02", note, "\xff\x01\x00"),
		oneArray("kept", "a block is kept", bit, bit, sameAs(0), kept),
		oneArray("kept-run", "two blocks are kept, the third is none of the base's", wide, last, sameAs(0), keptRun, leb(2),
			arithmetic, payload(payloadOf(scattered(4, 1000, 50)))),
		oneArray("blocks", "blocks as containers have them: empty, full, in positions; no bit of the base's remains", wide,
			joined(emptyCells(blockCells, 1), fullCells(blockCells), scattered(5, 1000, 9)), sameAs(0), empty, full, listed, positionsIn(scattered(5, 1000, 9))),
		oneArray("raw", "a block is raw", bit, scattered(6, 2000, 990), sameAs(0), raw, words(scattered(6, 2000, 990))),
		corrected("given", "bits given the old ones, many of which change", bit, changed(bit, 7, 100), given, givenOld),
		corrected("given-run", "three blocks of bits given the old ones", wide, changed(wide, 8, 99), givenRun+leb(3), givenOld),
		corrected("given-run-counters", "three blocks of counters of 64 bits given the old ones", many, changed(many, 9, 40), givenRun+leb(3), givenOld),
		corrected("flipped", "bits that flip", bit, changed(bit, 10, 5), flipped, flips),
		corrected("flipped-counters", "bits of counters that flip", byteful, changed(byteful, 11, 5), flipped, flips),
		oneArray("flipped-run", "a block that is kept, and two in which bits flip", wide, afterBlock(wide, changed(wide, 12, 40)),
			sameAs(0), kept, flippedRun, leb(2), flips(tail(wide), tail(changed(wide, 12, 40)))),
		corrected("listed", "ones and zeros of bits that change, in two lists", bit, changed(bit, 43, 9), listing, listOfBits),
		corrected("listed-run", "three blocks, of which bits are listed", wide, changed(wide, 44, 20), listingRun+leb(3), listOfBits),
		corrected("listed-gone", "three ones become zero, and the list of zeros is empty", bit, without(bit, 3), listing, listOfBits),
		corrected("listed-words", "words of bits that change", bit, changed(bit, 45, 6), listing, listOfGroups(1)),
		corrected("listed-blocks", "groups of 8 words that change, the last one of which is shorter", bit, changed(bit, 46, 9), listing, listOfGroups(8)),
		corrected("listed-counters", "counters of 8 bits that change", byteful, changed(byteful, 47, 5), listing, listOfCounters),
		corrected("listed-counters-words", "groups of 3 words of counters of 8 bits that change", byteful, changed(byteful, 48, 5), listing, listOfGroups(3)),
		corrected("gaps", "ones and zeros of bits that change, by their gaps", bit, changed(bit, 50, 9), gaps, gapsOfBits),
		corrected("gaps-run", "three blocks, of which bits change, by their gaps", wide, changed(wide, 51, 300), gapsRun+leb(3), gapsOfBits),
		corrected("gaps-gone", "three ones become zero, and no zero becomes one", bit, without(bit, 3), gaps, gapsOfBits),
		oneArray("new", "a plane that is new, of another width", bit, byteful, fresh(8, 300), arithmetic, payload(payloadOf(byteful))),
		oneArray("new-empty", "a plane that is new, and has no cells", bit, emptyCells(0, 1), fresh(1, 0)),
		handMade("planes", "a plane left out, two in another order, one of them twice",
			stateOf(bit, byteful, scattered(13, 64, 9)), stateOf(scattered(13, 64, 9), byteful, byteful),
			params, "\x03", sameAs(2), kept, sameAs(1), kept, sameAs(1), kept, noParts),
		oneArray("fold-1", "a fold by 5 in groups of one cell", bit, folded(bit, 5, 1), foldOf(0, 5, 1), kept),
		oneArray("fold-8", "a fold by 10 in groups of 8 cells, of which bits flip", bit, changed(folded(bit, 10, 8), 14, 3),
			foldOf(0, 10, 8), flipped, flips(folded(bit, 10, 8), changed(folded(bit, 10, 8), 14, 3))),
		oneArray("fold-all", "a fold by 2 in groups of half the cells", bit, folded(bit, 2, 1000), foldOf(0, 2, 1000), kept),
		oneArray("fold-counters", "a fold by 3 of counters of 8 bits, of which some saturate", byteful, folded(byteful, 3, 20), foldOf(0, 3, 20), kept),
		oneArray("unfold-1", "an unfold by 3 in groups of one cell", bit, unfolded(bit, 3, 1), unfoldOf(0, 3, 1), kept),
		oneArray("unfold-blocks", "an unfold by 4 in groups of 64 cells, in two blocks, one given", half, grown(half),
			unfoldOf(0, 4, 64), kept, given, givenOld(tail(unfolded(half, 4, 64)), tail(grown(half)))),
		oneArray("unfold-counters", "an unfold by 2 of counters, given the old", byteful, drifted(unfolded(byteful, 2, 100), 16),
			unfoldOf(0, 2, 100), given, givenOld(unfolded(byteful, 2, 100), drifted(unfolded(byteful, 2, 100), 16))),
		handMade("params", "a whole number, a float and a float that becomes negative zero have other values",
			numbered(umbel.Uint(7), umbel.Float(0.5), umbel.Uint(1), umbel.Float(1)),
			numbered(umbel.Uint(1<<63), umbel.Float(0.25), umbel.Uint(1), umbel.Float(math.Copysign(0, -1))),
			"\x03", "\x00", u64(1<<63), "\x01", u64(0x3fd0<<48), "\x03", u64(1<<63), none, noParts),
		handMade("params-all", "all parameters are others", numbered(umbel.Uint(7)), numbered(umbel.Float(1), umbel.Uint(3)),
			"\xff", "\x02", "\x01a", one, u64(0x3ff0<<48), "\x01b", "\x00", u64(3), none, noParts),
	}
	v = append(v, givenCounters(), movedParts(), deepestPart())
	return append(v, refinedArrays()...)
}

// corrected returns a vector of one array with one payload.
func corrected(name, comment string, old, new cells.Array, coding string, code func(old, new cells.Array) string) deltaVector {
	return oneArray(name, comment, old, new, sameAs(0), coding, code(old, new))
}

// without returns an array without its first n ones.
func without(a cells.Array, n int) cells.Array {
	a = a.Clone()
	for i := uint64(0); n > 0; i++ {
		if a.Bit(i) {
			a.Put(i, 0)
			n--
		}
	}
	return a
}

// tail returns an array without its first block.
func tail(a cells.Array) cells.Array {
	per := blockCells / uint64(a.Width)
	return cells.Array{Words: a.Words[blockCells/64:], Len: a.Len - per, Width: a.Width}
}

// afterBlock returns the first block of one array followed by the rest of another.
func afterBlock(first, rest cells.Array) cells.Array {
	rest = rest.Clone()
	copy(rest.Words[:blockCells/64], first.Words)
	return rest
}

// grown returns an unfold whose second block has more ones.
func grown(a cells.Array) cells.Array {
	b := unfolded(a, 4, 64)
	return afterBlock(b, changed(b, 17, 60))
}

// numbered returns a state with parameters a, b, c and so on.
func numbered(values ...umbel.Number) umbel.State {
	s := stateOf()
	for i, v := range values {
		s.Params = append(s.Params, umbel.Param{Name: string(rune('a' + i)), Value: v})
	}
	return s
}

func givenCounters() deltaVector {
	var base, result []cells.Array
	var change strings.Builder
	for width := uint(2); width <= 64; width *= 2 {
		old := counted(uint64(width), 250, width)
		new := drifted(old, 18)
		change.WriteString(sameAs(byte(len(base))) + given + givenOld(old, new))
		base, result = append(base, old), append(result, new)
	}
	return handMade("given-counters", "counters of 2, 4, 8, 16, 32 and 64 bits given the old ones", stateOf(base...), stateOf(result...),
		params, "\x06", change.String(), noParts)
}

// movedParts has parts that are based on others, in another order, and one that is new.
func movedParts() deltaVector {
	a, b, c := scattered(19, 500, 100), scattered(20, 500, 50), scattered(21, 640, 60)
	base, result := stateOf(), stateOf()
	base.Parts = []umbel.State{stateOf(a), stateOf(b)}
	result.Parts = []umbel.State{stateOf(changed(b, 22, 4)), stateOf(c), stateOf(a), stateOf(changed(a, 23, 30))}
	return handMade("parts", "parts of parts 1, 0 and 0 of the base, and one that is new", base, result,
		params, none, "\x04",
		"\x02", params, one, sameAs(0), flipped, flips(b, changed(b, 22, 4)), noParts,
		"\x00", head, one, bits(640), arithmetic, payload(payloadOf(c)), alone,
		"\x01", params, one, sameAs(0), kept, noParts,
		"\x01", params, one, sameAs(0), given, givenOld(a, changed(a, 23, 30)), noParts)
}

// deepestPart has a new part at the maximum depth.
func deepestPart() deltaVector {
	base, result := nested(2, stateOf()), nested(2, nested(1, stateOf()))
	return handMade("deep", "a state that is new, four deep", base, result, params, none, "\x01", "\x01", params, none,
		"\x01", "\x01", params, none, "\x01", "\x00", least)
}

// nested returns a state that is nested in others, depth deep.
func nested(depth int, s umbel.State) umbel.State {
	for range depth {
		outer := stateOf()
		outer.Parts = []umbel.State{s}
		s = outer
	}
	return s
}

func refinedArrays() []deltaVector {
	var v []deltaVector
	for _, r := range []struct {
		name                       string
		cells, ones, factor, group uint64
		comment                    string
	}{
		{"refine-2", 2000, 500, 2, 1, "a plane refines its fold by 2 in groups of one cell"},
		{"refine-12", 2400, 300, 12, 8, "a plane refines its fold by 12, in steps by 2, 2 and 3, in groups of 8 cells"},
		{"refine-35", 35 * 64, 80, 35, 64, "a plane refines its fold by 35, in steps by 5 and 7, in groups of a word"},
		{"refine-61", 61 * 50, 60, 61, 50, "a plane refines its fold by 61, in groups of 50 cells, all there are"},
		{"refine-units", 192 * 4096, 90, 4096, 64, "a plane refines its fold by 4096 in two units"},
		{"refine-groups", 129 * 3000, 200, 3000, 3, "a plane refines its fold by 3000 in two units, a group of 3 cells across them"},
		{"refine-full", 300, 300, 3, 10, "a plane that is full refines a full one"},
	} {
		full := scattered(24, r.cells, r.ones)
		fold := folded(full, r.factor, r.group)
		v = append(v, oneArray(r.name, r.comment, fold, full, refineOf(0, r.factor, r.group), refinement(fold, full, r.factor, r.group)))
	}
	return v
}

// writtenDeltas returns vectors of deltas that umbel writes, and of the same changes in version 1.
func writtenDeltas() []deltaVector {
	bit := scattered(25, 6400, 1500)
	wide := joined(scattered(26, blockCells, 30), scattered(27, blockCells, 30), scattered(28, 6400, 10))
	var v []deltaVector
	for _, d := range []struct {
		name, comment string
		base, result  cells.Array
	}{
		{"written-many", "of 6400 bits 300 change", bit, changed(bit, 29, 300)},
		{"written-few", "of three blocks two bits change", wide, changed(wide, 30, 2)},
		{"written-listed", "of three blocks one or two bits of seven words change", wide, changedWords(wide, 49, 7)},
		{"written-counters", "counters rise and fall", counted(31, 500, 4), drifted(counted(31, 500, 4), 32)},
		{"written-fold", "a plane becomes its fold by 4, and some bits change", bit, changed(folded(bit, 4, 64), 33, 20)},
		{"written-unfold", "a plane becomes its unfold by 4, and some bits are added", bit, merged(unfolded(bit, 4, 64), scattered(34, 4*6400, 99))},
		{"written-refine", "a plane becomes what it is the fold of", folded(bit, 4, 64), bit},
	} {
		base, result := stateOf(d.base), stateOf(d.result)
		change, err := delta.Encoder{}.AppendChange(nil, base, result)
		if err != nil {
			panic("gen: " + d.name + ": " + err.Error())
		}
		v = append(v, deltaVector{d.name, "ok", d.comment, base, result, deltaOf(base, result, string(change))})
		short, err := delta.Append(nil, base, result)
		if err != nil {
			panic("gen: " + d.name + ": " + err.Error())
		}
		v = append(v, deltaVector{"short-" + d.name, "ok", d.comment + ", in the short form", base, result, short})
	}
	return v
}

// changedWords returns a with up to two bits flipped in each of n words.
func changedWords(a cells.Array, seed uint64, n int) cells.Array {
	a = a.Clone()
	rng := rand.New(rand.NewPCG(seed, a.Len))
	for range n {
		i := rng.IntN(len(a.Words) - 1)
		flips := uint64(1) << rng.UintN(64)
		flips |= 1 << rng.UintN(64)
		a.Words[i] ^= flips
	}
	return a
}

// merged returns the ones of both arrays.
func merged(a, b cells.Array) cells.Array {
	if err := a.Sum(b); err != nil {
		panic("gen: " + err.Error())
	}
	return a
}
