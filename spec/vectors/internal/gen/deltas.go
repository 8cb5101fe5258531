package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// deltas returns vectors of deltas with their bases.
func deltas() []file {
	var files []file
	for _, v := range slices.Concat(goodDeltas(), writtenDeltas(), goodShortDeltas()) {
		f := v.file()
		f.Header = append(f.Header,
			field{"kind", v.base.Kind}, field{"form", v.form()},
			field{"base", hashtree.Identify(v.base).String()}, field{"id", hashtree.Identify(v.result).String()})
		if v.result.Planned != v.base.Planned || v.result.Tick != v.base.Tick {
			f.Header = append(f.Header, notes(v.result)...)
		}
		files = append(files, f)
	}
	for _, v := range append(badDeltas(), badShortDeltas()...) {
		files = append(files, v.file())
	}
	return files
}

// deltaVector is a vector of a delta from base to result.
type deltaVector struct {
	name, expect, comment string
	base, result          umbel.State
	delta                 []byte
}

// form returns "written" if umbel writes this delta, and otherwise "other".
func (v deltaVector) form() string {
	b, err := delta.Append(nil, v.base, v.result)
	if err != nil {
		panic("gen: " + v.name + ": " + err.Error())
	}
	if bytes.Equal(b, v.delta) {
		return "written"
	}
	return "other"
}

func (v deltaVector) file() file {
	return file{
		Path:   "deltas/" + v.name + ".txt",
		Header: []field{{"comment", v.comment}, {"expect", v.expect}},
		Body:   vector.HexLines(longPacked(v.base)) + "\n" + vector.HexLines(v.delta),
	}
}

// The fields of a delta.
const (
	deltaMagic = "\x89umdlt\n\x01"
	params     = "\x00" // those of the base
	noParts    = "\x00"
	kept       = "\x80"
	keptRun    = "\x81"
	given      = "\x82"
	givenRun   = "\x83"
	flipped    = "\x84"
	flippedRun = "\x85"
	listing    = "\x88"
	listingRun = "\x89"
	gaps       = "\x8a"
	gapsRun    = "\x8b"
)

func leb(v uint64) string { return string(binary.AppendUvarint(nil, v)) }

// The functions below return the sources of arrays; fresh is that of an array without a source.
func fresh(width byte, n uint64) string     { return "\x00" + string([]byte{width}) + u64(n) }
func sameAs(i byte) string                  { return string([]byte{1, i}) }
func foldOf(i byte, r, group uint64) string { return string([]byte{2, i}) + leb(r) + leb(group) }
func unfoldOf(i byte, u, group uint64) string {
	return string([]byte{3, i}) + leb(u) + leb(group)
}
func refineOf(i byte, u, group uint64) string {
	return string([]byte{4, i}) + leb(u) + leb(group)
}

// deltaOf returns a delta with its header and checksum.
func deltaOf(base, result umbel.State, change ...string) []byte {
	return deltaOfBytes(base, result, result.Bytes(), change...)
}

func deltaOfBytes(base, result umbel.State, bytes uint64, change ...string) []byte {
	from, to := hashtree.Identify(base), hashtree.Identify(result)
	name := string([]byte{byte(len(base.Kind))}) + base.Kind
	return sum([]byte(deltaMagic + string(from[:]) + string(to[:]) + u64(bytes) + name + strings.Join(change, "")))
}

// stateOf returns a state of an unknown kind.
func stateOf(arrays ...cells.Array) umbel.State { return umbel.State{Kind: kind[1:], Arrays: arrays} }

// handMade returns a vector of a delta that is written by hand.
func handMade(name, comment string, base, result umbel.State, change ...string) deltaVector {
	return deltaVector{name, "ok", comment, base, result, deltaOf(base, result, change...)}
}

// handMadeNotes is handMade for states with notes.
func handMadeNotes(name, comment string, base, result umbel.State, change ...string) deltaVector {
	return handMade(name, comment, base, result, params, one, sameAs(0), kept, noParts, strings.Join(change, ""))
}

// with returns s with notes.
func with(s umbel.State, p umbel.Planned, tick uint64) umbel.State {
	s.Planned, s.Tick = p, tick
	return s
}

// oneArray is handMade for a state of one array.
func oneArray(name, comment string, base, result cells.Array, array ...string) deltaVector {
	return handMade(name, comment, stateOf(base), stateOf(result), params, one, strings.Join(array, ""), noParts)
}

// givenOld returns the payload of cells given the old ones.
func givenOld(old, new cells.Array) string {
	var c model.Modeler
	return payload(string(c.AppendDelta(nil, old, new)))
}

// flips returns the payload with the positions of the bits in which two arrays differ.
func flips(old, new cells.Array) string {
	diff := old.Clone()
	for i, w := range new.Words {
		diff.Words[i] ^= w
	}
	return payload(string(entropy.AppendRice(nil, entropy.Bits{Words: diff.Words, Len: old.Len * uint64(old.Width)})))
}

// listOfBits returns the payload with the changes of ones and of zeros.
func listOfBits(old, new cells.Array) string {
	gone, come := changesOf(old, new)
	return payload(string(model.AppendListedBits(nil, gone, come)))
}

// changesOf returns the changes of the ones of an array, and those of its zeros.
func changesOf(old, new cells.Array) (gone, come entropy.Sparse) {
	for i := range old.Len {
		of := &come
		if old.Bit(i) {
			of = &gone
		}
		if old.Bit(i) != new.Bit(i) {
			of.Ones = append(of.Ones, of.Len)
		}
		of.Len++
	}
	return gone, come
}

// gapsOfBits returns the payload with the gaps between the bits that change.
func gapsOfBits(old, new cells.Array) string {
	var c model.Modeler
	gone, come := changesOf(old, new)
	return payload(string(c.AppendGapLists(nil, gone, come)))
}

// listOfGroups returns the payload with the groups of words that change.
func listOfGroups(words uint64) func(old, new cells.Array) string {
	return func(old, new cells.Array) string { return listOf(words, words*64/uint64(old.Width), old, new) }
}

// listOfCounters returns the payload with the counters that change.
func listOfCounters(old, new cells.Array) string { return listOf(0, 1, old, new) }

// listOf returns the payload with the groups of size cells that change.
func listOf(words, size uint64, old, new cells.Array) string {
	at := entropy.Sparse{Len: (old.Len + size - 1) / size}
	var was, is []uint64
	for group := range at.Len {
		from, to := group*size, min((group+1)*size, old.Len)
		if slices.Equal(values(old, from, to), values(new, from, to)) {
			continue
		}
		at.Ones = append(at.Ones, group)
		was, is = append(was, values(old, from, to)...), append(is, values(new, from, to)...)
	}
	var c model.Modeler
	return payload(string(c.AppendListed(nil, words, at, cellsOf(old.Width, was), cellsOf(old.Width, is))))
}

// values returns cells of an array.
func values(a cells.Array, from, to uint64) (list []uint64) {
	for i := from; i < to; i++ {
		list = append(list, a.Get(i))
	}
	return list
}

// cellsOf returns an array of cells.
func cellsOf(width uint, values []uint64) cells.Array {
	a := emptyCells(uint64(len(values)), width)
	for i, v := range values {
		a.Put(uint64(i), v)
	}
	return a
}

// refinement returns all units that refine fold to full.
func refinement(fold, full cells.Array, r, group uint64) string {
	var c model.Modeler
	var b strings.Builder
	for step, from := model.RefinementCells(r), uint64(0); from < fold.Len; from += step {
		b.WriteString(payload(string(c.AppendRefinement(nil, full, r, group, from, min(from+step, fold.Len)))))
	}
	return b.String()
}

// changed returns a with up to x bits flipped.
func changed(a cells.Array, seed, x uint64) cells.Array {
	a = a.Clone()
	rng := rand.New(rand.NewPCG(seed, a.Len))
	for range x {
		at := rng.Uint64N(a.Len * uint64(a.Width))
		a.Words[at/64] ^= 1 << (at % 64)
	}
	return a
}

// drifted returns a with some counters raised and some lowered, a few by much.
func drifted(a cells.Array, seed uint64) cells.Array {
	a = a.Clone()
	rng := rand.New(rand.NewPCG(seed, a.Len))
	for i := range a.Len {
		v := a.Get(i)
		switch rng.Uint64N(20) {
		case 0:
			a.Put(i, v+min(a.Limit()-v, 1))
		case 1:
			a.Put(i, v-min(v, 1))
		case 2:
			a.Put(i, a.Limit()>>rng.Uint64N(uint64(a.Width)))
		}
	}
	return a
}

// counted returns n counters that are 1 on average, and some that are larger.
func counted(seed, n uint64, width uint) cells.Array {
	rng := rand.New(rand.NewPCG(seed, n))
	a := emptyCells(n, width)
	for range n {
		a.Inc(rng.Uint64N(n))
	}
	for range n / 20 {
		a.Put(rng.Uint64N(n), a.Limit()>>rng.Uint64N(uint64(width)))
	}
	return a
}

func folded(a cells.Array, r, group uint64) cells.Array {
	b, err := a.Fold(r, group)
	if err != nil {
		panic("gen: " + err.Error())
	}
	return b
}

func unfolded(a cells.Array, u, group uint64) cells.Array {
	b, err := a.Unfold(u, group)
	if err != nil {
		panic("gen: " + err.Error())
	}
	return b
}
