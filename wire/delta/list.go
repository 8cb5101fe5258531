package delta

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// An array of which few bits change is also encoded as one run with lists. The smaller encoding is written.

// listFactor is the number of bits per bit that changes from which lists are tried. They save the few bytes
// that begin the code of each other run.
const listFactor = 1 << 11

// isRare reports whether lists are tried: whether bits differ, but few.
func (k known) isRare() bool {
	n, most := uint64(0), k.a.Bytes()*8/listFactor
	for _, f := range k.list {
		if n += uint64(bits.OnesCount64(f.Mask)); n > most {
			return false
		}
	}
	return n > 0
}

// rareFlips returns the comparison of an array with its prediction if that differs in few bits.
func rareFlips(a, predicted cells.Array) (known, bool) {
	var list []ranked
	n, most := uint64(0), a.Bytes()*8/listFactor
	for i, words := range a.Blocks(skipWords) {
		was := predicted.Words[i*skipWords:][:len(words)]
		differ := uint64(0)
		for j, w := range words {
			differ |= w ^ was[j]
		}
		if differ == 0 {
			continue
		}
		for j, w := range words {
			if x := w ^ was[j]; x != 0 {
				n += uint64(bits.OnesCount64(x))
				list = append(list, ranked{Flip: Flip{uint64(i*skipWords + j), x}})
			}
		}
		if n > most {
			return known{}, false
		}
	}
	if n == 0 {
		return known{}, false
	}
	ones := countArray(a)
	if ones.blocks != nil {
		r := ranker{words: a.Words, arrayOnes: ones}
		for i := range list {
			list[i].before = r.rank(int(list[i].Word))
		}
	}
	return newKnown(a, list, ones.blocks), true
}

// skipWords is the number of words that rareFlips compares at once.
const skipWords = 8

// rare writes the blocks of an array of which few bits change.
func (w *writer) rare(s source, k known) {
	start := len(w.Buf)
	w.held = true
	w.writeRuns(s, nextRun(k, block.Count(k.a), s.runs()), (*encodeJob).encodeKnown)
	w.held = false
	j := encodeJobs.Get().(*encodeJob)
	if j.list(k); len(j.bytes) > 0 && len(j.bytes) < len(w.Buf)-start {
		w.Buf = append(w.Buf[:start], j.bytes...)
	}
	w.Flush()
	j.forget()
	encodeJobs.Put(j)
}

// list encodes an array as one run with lists. It leaves j.bytes empty if they would have too many words.
func (j *encodeJob) list(k known) {
	j.bytes = j.bytes[:0]
	j.n = block.Count(k.a)
	k.take(j, 0, j.n)
	size := k.groupWords()
	if size == 0 && k.a.Width <= 1 {
		gone, come := j.known.split(k.a)
		j.payload = model.AppendListedBits(j.payload[:0], gone, come)
	} else {
		at, base, part := k.parts(size)
		if max(size*uint64(len(at.Ones)), uint64(len(part.Words))) > model.MaxListed {
			return
		}
		j.payload = j.codec.Modeler.AppendListed(j.payload[:0], size, at, base, part)
	}
	j.append(listed)
}
