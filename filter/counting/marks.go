package counting

// Mark is a moment in the history of a View. The zero Mark is before its beginning.
type Mark uint64

// recency orders blocks by when they last changed, newest first, in a list through
// an array: what changed since a mark is the beginning of the list. Marks cost
// nothing to keep, since a block has the moment of its last change and no mark is
// kept at all.
type recency struct {
	now   Mark   // the moment that changes belong to; marks before it are given out
	at    []Mark // the moment of each block's last change
	links []link // to each block's neighbours in the list; the last is its two ends
}

type link struct{ newer, older int }

// restart makes r the history of n blocks, all of which have just changed. Marks
// given out before stay valid.
func (r *recency) restart(n int) {
	r.now++
	r.at = make([]Mark, n)
	r.links = make([]link, n+1)
	for b := range r.links {
		r.links[b] = link{newer: b - 1, older: b + 1}
	}
	r.links[0].newer, r.links[n].older = n, 0
	for b := range r.at {
		r.at[b] = r.now
	}
}

// mark returns the moment after all changes so far.
func (r *recency) mark() Mark {
	m := r.now
	r.now++
	return m
}

// isOld reports whether block b's last change is before now: where it isn't, another
// change makes no difference. To ask this first spares a branch on what the change
// is, which is chance.
func (r *recency) isOld(b uint64) bool { return r.at[b] != r.now }

// move notes that block b changes now: it puts it at the head of the list.
func (r *recency) move(block uint64) {
	b := int(block)
	r.at[b] = r.now
	was := r.links[b]
	r.links[was.newer].older = was.older
	r.links[was.older].newer = was.newer
	ends := len(r.at)
	head := r.links[ends].older
	r.links[b] = link{newer: ends, older: head}
	r.links[head].newer = b
	r.links[ends].older = b
}

// since appends to dst the blocks that changed after the mark.
func (r *recency) since(dst []uint64, m Mark) []uint64 {
	ends := len(r.at)
	if ends == 0 {
		return dst
	}
	for b := r.links[ends].older; b != ends && r.at[b] > m; b = r.links[b].older {
		dst = append(dst, uint64(b))
	}
	return dst
}
