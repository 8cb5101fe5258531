package layered

import "github.com/umbel-filters/umbel"

// chunk is the number of keys that wait on the stack for the next layer.
const chunk = 256

// HasAll sets dst[i] to Has(ds[i]). It panics if dst is shorter than ds. It queries a large
// list layer by layer, so that cache misses overlap, and a small one key by key: in the
// caches, layer by layer took 1.3 times as long, since most keys are looked up in all
// layers.
func (l *List) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if len(l.layers) == 1 {
		l.layers[0].Bits.HasAll(dst, ds)
		return
	}
	if !l.isLarge() {
		for i, d := range ds {
			dst[i] = l.Has(d)
		}
		return
	}
	for len(ds) > 0 {
		n := min(chunk, len(ds))
		l.hasChunk(dst[:n], ds[:n])
		dst, ds = dst[n:], ds[n:]
	}
}

// largeFrom is the size in words from which a list is large: 8 MiB.
const largeFrom = 1 << 20

func (l *List) isLarge() bool {
	words := 0
	for i := range l.layers {
		words += len(l.layers[i].Bits.Cells().Words)
	}
	return words >= largeFrom
}

// hasChunk queries layer by layer, the newest first, for the keys that no layer has so far.
func (l *List) hasChunk(dst []bool, ds []umbel.Digest) {
	var open [chunk]umbel.Digest
	var at [chunk]uint16
	var has [chunk]bool
	n := copy(open[:], ds)
	for i := range n {
		at[i], dst[i] = uint16(i), false
	}
	for i := len(l.layers) - 1; i >= 0 && n > 0; i-- {
		l.layers[i].Bits.HasAll(has[:n], open[:n])
		left := 0
		for j := range n {
			d, to := open[j], at[j]
			dst[to] = has[j]
			open[left], at[left] = d, to
			if !has[j] {
				left++
			}
		}
		n = left
	}
}

// AddAll adds ds in order: each digest that no layer has goes to the last layer. If that
// is full, AddAll calls grow, which appends a layer; if grow returns an error, the last
// layer takes the digest. If changed is not nil, changed[i] is set to whether ds[i]
// changed the list. AddAll panics if changed is shorter than ds or if there are no layers.
func (l *List) AddAll(changed []bool, ds []umbel.Digest, grow func() error) {
	l.MustInit()
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
		n = l.addChunk(to, ds[:n], grow)
		if ds = ds[n:]; changed != nil {
			changed = changed[n:]
		}
	}
}

// addChunk adds as many of ds, at most chunk, as it can at once, sets changed for them,
// and returns their number. It returns 0 if it only appended a layer.
func (l *List) addChunk(changed []bool, ds []umbel.Digest, grow func() error) int {
	if remaining := l.remaining(); remaining > 0 {
		ds = ds[:min(uint64(len(ds)), remaining)]
	} else {
		for i, d := range ds {
			if changed[i] = false; l.Has(d) {
				continue
			}
			if i == 0 && grow() == nil {
				return 0
			} else if i == 0 {
				break // the last layer takes it, although it is full
			}
			return i
		}
	}
	var open [chunk]umbel.Digest // digests that no older layer has
	var at [chunk]uint16
	var added [chunk]bool
	n := 0
	for i, d := range ds {
		if changed[i] = false; !l.oldestHave(len(l.layers)-1, d) {
			open[n], at[n] = d, uint16(i)
			n++
		}
	}
	l.layers[len(l.layers)-1].Bits.AddAll(added[:n], open[:n])
	keys := uint64(0)
	for j := range n {
		if added[j] {
			changed[at[j]] = true
			keys++
		}
	}
	l.headroom.Consume(keys)
	return len(ds)
}
