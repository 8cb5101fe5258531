package share

import "iter"

// A publisher offers deltas such that a subscriber who missed any number of versions needs few of
// them. Version v has, for each power b of base that divides v, deltas from v-b, v-2b, … v-(base-1)b.
// A subscriber climbs: from its version to the next multiple of base, from there to the next
// multiple of base², and so on, and descends the same way to the current version.
//
// With base 6 that takes at most 8 deltas for 1296 versions, which together have 1.2 times the bytes
// of one direct delta; all deltas to a version take as many bytes as 41 deltas from the version
// before. Base 2 would need up to 15 deltas, 1.3 times the bytes, and cost 8; base 10 needs 6, 1.1
// times, and costs 92.
const (
	base    = 6
	levels  = 4
	horizon = base * base * base * base // versions, the longest path
	// pageVersions is the number of versions whose climbs are in one page of the index.
	pageVersions = base * base
)

// incoming yields the versions from which there are deltas to version v: the nearest first.
func incoming(v uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		step := uint64(1)
		for range levels {
			if v%step != 0 {
				return
			}
			for d := uint64(1); d < base; d++ {
				if v <= d*step || !yield(v-d*step) {
					return
				}
			}
			step *= base
		}
	}
}

// level returns the level of the delta between two versions: the largest power of base that
// divides its length.
func level(from, to uint64) (step uint64) {
	step = 1
	for n := to - from; n%base == 0; n /= base {
		step *= base
	}
	return step
}

// climbs reports whether a delta leads to a multiple of the next power of base.
func climbs(from, to uint64) bool { return to%(level(from, to)*base) == 0 }

// descends reports whether a delta is part of the way down to version v.
func descends(from, to, v uint64) bool {
	step := level(from, to)
	return to == v/step*step && from >= v/(step*base)*(step*base)
}

// useful reports whether a delta is part of a path to version v.
func useful(from, to, v uint64) bool {
	return descends(from, to, v) || climbs(from, to) && to <= v && from+horizon > v
}

// begins reports whether a delta from a version leads to version v or a later one.
func begins(from, v uint64) bool {
	for step := uint64(1); step < horizon && from%step == 0; step *= base {
		next := (v + step - 1) / step * step
		if from+(base-1)*step >= next {
			return true
		}
	}
	return false
}

// page returns the number of the page of the index that has the climbs from a version.
func page(from uint64) uint64 { return from / pageVersions }

// paged reports whether a delta is in a page instead of the index itself: a short climb whose
// page is complete at version v.
func paged(from, to, v uint64) bool {
	return climbs(from, to) && to-from < pageVersions && (page(from)+1)*pageVersions <= v
}
