package redisbloom

import "github.com/umbel-filters/umbel"

// positions is room for those of several keys in a layer. All are known before the first is looked
// at: a loop that does nothing but look has many caches' misses under way at once.
type positions [256]uint64

// fewKeys are so few that they are faster one by one.
const fewKeys = 4

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if len(ds) < fewKeys {
		for i, d := range ds {
			dst[i] = f.Has(d)
		}
		return
	}
	clear(dst)
	var room positions
	for i := len(f.layers) - 1; i >= 0; i-- {
		l := &f.layers[i]
		atOnce := len(room) / l.k
		if atOnce == 0 {
			l.findEach(dst, ds)
			continue
		}
		for from := 0; from < len(ds); from += atOnce {
			to := min(from+atOnce, len(ds))
			l.find(dst[from:to], ds[from:to], &room)
		}
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	var room [64]bool
	for from := 0; from < len(ds); from += len(room) {
		some := ds[from:min(from+len(room), len(ds))]
		there := room[:len(some)]
		if changed != nil {
			there = changed[from:][:len(some)]
		}
		f.HasAll(there, some)
		for i, d := range some {
			there[i] = !there[i] && f.Add(d)
		}
	}
}

// find sets dst[i] if all bits of ds[i] are set. There is room for all positions.
func (l *layer) find(dst []bool, ds []umbel.Digest, room *positions) {
	n := 0
	for _, d := range ds {
		v := d.H1
		for range l.k {
			room[n] = l.position(v)
			n++
			v += d.H2
		}
	}
	words := l.cells.Words
	for i := range ds {
		all := uint64(1)
		for _, at := range room[i*l.k : (i+1)*l.k] {
			all &= words[at>>6] >> (at & 63)
		}
		dst[i] = dst[i] || all != 0
	}
}

// findEach is find for a layer in which a single key has more positions.
func (l *layer) findEach(dst []bool, ds []umbel.Digest) {
	for i, d := range ds {
		dst[i] = dst[i] || l.has(d)
	}
}
