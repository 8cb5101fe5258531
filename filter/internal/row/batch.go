package row

import "github.com/umbel-filters/umbel"

// chunk is the number of keys that wait on the stack for the last layer.
const chunk = 256

// HasAll sets dst[i] to Has(ds[i]). It panics if dst is shorter than ds. A row of one
// layer is asked as that is, a small one key by key. A large one is asked layer by layer,
// so that misses overlap: of one in the caches that took 1.3 times as long, since most
// keys are asked of all.
func (r *Row) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if len(r.bits) == 1 {
		r.bits[0].HasAll(dst, ds)
		return
	}
	if !r.isLarge() {
		for i, d := range ds {
			dst[i] = r.Has(d)
		}
		return
	}
	for len(ds) > 0 {
		n := min(chunk, len(ds))
		r.hasChunk(dst[:n], ds[:n])
		dst, ds = dst[n:], ds[n:]
	}
}

// largeFrom is the size in words from which a row is large: 8 MiB.
const largeFrom = 1 << 20

func (r *Row) isLarge() bool {
	words := 0
	for i := range r.layers {
		words += len(r.layers[i].Cells.Words)
	}
	return words >= largeFrom
}

// hasChunk asks layer by layer, the newest first, and of each what none before it has.
func (r *Row) hasChunk(dst []bool, ds []umbel.Digest) {
	var open [chunk]umbel.Digest
	var at [chunk]uint16
	var yes [chunk]bool
	n := copy(open[:], ds)
	for i := range n {
		at[i], dst[i] = uint16(i), false
	}
	for i := len(r.bits) - 1; i >= 0 && n > 0; i-- {
		r.bits[i].HasAll(yes[:n], open[:n])
		left := 0
		for j := range n {
			d, to := open[j], at[j]
			dst[to] = yes[j]
			open[left], at[left] = d, to
			if !yes[j] {
				left++
			}
		}
		n = left
	}
}

// AddAll adds ds in order: each unless a layer has it, to the last layer. Where that
// is full it calls grow, which appends a layer or, by an error, says that there is
// no room for one: the last layer then takes what comes. If changed isn't nil,
// changed[i] tells whether ds[i] changed the row; it panics if changed is shorter
// than ds.
func (r *Row) AddAll(changed []bool, ds []umbel.Digest, grow func() error) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	var unread [chunk]bool
	for len(ds) > 0 {
		n := min(chunk, len(ds))
		to := unread[:n]
		if changed != nil {
			to = changed[:n]
		}
		n = r.addChunk(to, ds[:n], grow)
		if ds = ds[n:]; changed != nil {
			changed = changed[n:]
		}
	}
}

// addChunk adds as many of ds, at most a chunk, as it can at once, sets changed for
// them and returns their number: 0 if it only appended a layer.
func (r *Row) addChunk(changed []bool, ds []umbel.Digest, grow func() error) int {
	if r.IsFull() {
		for i, d := range ds {
			if changed[i] = false; r.Has(d) {
				continue
			}
			if i == 0 && grow() == nil {
				return 0
			} else if i == 0 {
				break // the last layer takes it, full as it is
			}
			return i
		}
	} else {
		ds = ds[:min(uint64(len(ds)), r.left())]
	}
	var open [chunk]umbel.Digest // what no older layer has
	var at [chunk]uint16
	var fresh [chunk]bool
	n := 0
	for i, d := range ds {
		if changed[i] = false; !r.has(len(r.bits)-1, d) {
			open[n], at[n] = d, uint16(i)
			n++
		}
	}
	r.bits[len(r.bits)-1].AddAll(fresh[:n], open[:n])
	took := uint64(0)
	for j := range n {
		if fresh[j] {
			changed[at[j]] = true
			took++
		}
	}
	r.room.Took(took)
	return len(ds)
}
