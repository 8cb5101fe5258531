package ribbon

import "github.com/umbel-filters/umbel"

// list is a set of digests in the order in which they came: H1 and H2 of each.
type list struct {
	words []uint64
	// index is a table with open addressing, of a length that is a power of two: the
	// number of a digest in words, from 1, or 0. It is at most half full.
	index []int
}

func (l *list) len() int { return len(l.words) / 2 }

func (l *list) digest(i int) umbel.Digest { return umbel.Digest{H1: l.words[2*i], H2: l.words[2*i+1]} }

// find returns the place of d in the index, or the one where it belongs. The index
// isn't empty.
func (l *list) find(d umbel.Digest) int {
	mask := len(l.index) - 1
	i := int((d.H1^d.H2*0x9e3779b97f4a7c15)*0x9e3779b97f4a7c15>>32) & mask
	for l.index[i] != 0 && l.digest(l.index[i]-1) != d {
		i = (i + 1) & mask
	}
	return i
}

func (l *list) has(d umbel.Digest) bool { return len(l.words) > 0 && l.index[l.find(d)] != 0 }

// add adds d and reports whether it wasn't there.
func (l *list) add(d umbel.Digest) bool {
	if len(l.words) >= len(l.index) {
		l.grow(max(2*len(l.index), 16))
	}
	i := l.find(d)
	if l.index[i] != 0 {
		return false
	}
	l.words = append(l.words, d.H1, d.H2)
	l.index[i] = l.len()
	return true
}

// grow makes the index anew with so many places.
func (l *list) grow(places int) {
	l.index = make([]int, places)
	for i := range l.len() {
		l.index[l.find(l.digest(i))] = i + 1
	}
}

// openList returns the list with these words, in their memory, and false if a digest
// is in it twice.
func openList(words []uint64) (list, bool) {
	var l list
	places := 16
	for places < len(words) {
		places *= 2
	}
	l.index = make([]int, places)
	for n := 2; n <= len(words); n += 2 {
		l.words = words[:n]
		i := l.find(l.digest(n/2 - 1))
		if l.index[i] != 0 {
			return list{}, false
		}
		l.index[i] = n / 2
	}
	return l, true
}
