package share

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Index lists the objects with which a subscriber reaches the current version. It is an object
// itself; every version has a new one.
type Index struct {
	// Snapshots are the versions with a packed container, the newest first.
	Snapshots []Snapshot
	// Deltas are all deltas that the index contains itself, in the order of To, then From.
	Deltas []Delta
	// Pages refer to the pages, in the order of Number. A page lists deltas that a subscriber
	// needs who has one of its versions.
	Pages []Page
	// Refinements lead from the coarser fold classes to the newest snapshot: from the next coarser
	// class, then to that from the one after it, and so on. All are of one version.
	Refinements []Refinement
}

// Refinement is a change to a version of a fold class from the same version of the next coarser class.
type Refinement struct {
	Fold     uint64 // the factor of the coarser class
	Version  uint64
	Snapshot Ref // of this version of the coarser class
	Ref
}

// Snapshot is a packed container of a version.
type Snapshot struct {
	Version uint64
	Ref
}

// Delta is a change from one version to another, as delta.Encoder.AppendChange encodes it.
type Delta struct {
	From, To uint64
	Ref
}

// compareDeltas orders deltas by To, then by From.
func compareDeltas(a, b Delta) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
}

// Page refers to a page: an object with the climbs from versions Number·36 to Number·36 + 35, in the
// form of an index.
type Page struct {
	Number uint64
	Ref
}

const (
	indexMagic = "umbidx\n\x01"
	// maxIndex bounds an index: one of the ladder has less than 3 KiB.
	maxIndex = 1 << 20
	// maxObject is the maximum number of bytes of an object on a path.
	maxObject = 1 << 40
)

// AppendBinary appends the encoding of the index: see spec/share.md.
func (x *Index) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, indexMagic...)
	b = binary.AppendUvarint(b, uint64(len(x.Snapshots)))
	for _, s := range x.Snapshots {
		b = appendRef(binary.AppendUvarint(b, s.Version), s.Ref)
	}
	b = binary.AppendUvarint(b, uint64(len(x.Deltas)))
	last := uint64(0)
	for _, d := range x.Deltas {
		b = binary.AppendUvarint(b, d.To-last)
		b = appendRef(binary.AppendUvarint(b, d.To-d.From), d.Ref)
		last = d.To
	}
	b = binary.AppendUvarint(b, uint64(len(x.Pages)))
	for _, p := range x.Pages {
		b = appendRef(binary.AppendUvarint(b, p.Number), p.Ref)
	}
	if len(x.Refinements) > 0 {
		b = binary.AppendUvarint(b, uint64(len(x.Refinements)))
		b = binary.AppendUvarint(b, x.Refinements[0].Version)
	}
	for _, r := range x.Refinements {
		b = appendRef(appendRef(binary.AppendUvarint(b, r.Fold), r.Snapshot), r.Ref)
	}
	return b, nil
}

func appendRef(b []byte, r Ref) []byte {
	return append(binary.AppendUvarint(b, r.Bytes), r.Hash[:]...)
}

// appendString appends bytes with their number.
func appendString[T ~string | ~[]byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// UnmarshalBinary reads an index. The error wraps ErrCorrupt.
func (x *Index) UnmarshalBinary(b []byte) error {
	if len(b) < len(indexMagic) || string(b[:len(indexMagic)]) != indexMagic {
		return sentinel.Errorf(ErrCorrupt, "an index begins with %q", indexMagic)
	}
	r := indexReader{b: b[len(indexMagic):]}
	var y Index
	for range r.count(minEntry) {
		y.Snapshots = append(y.Snapshots, Snapshot{r.uvarint(), r.ref()})
	}
	to := uint64(0)
	for range r.count(minEntry) {
		step, length := r.uvarint(), r.uvarint()
		if to+step < to || length == 0 || length >= to+step {
			r.fail("a delta of %d versions to version %d", length, to+step)
		}
		to += step
		y.Deltas = append(y.Deltas, Delta{to - length, to, r.ref()})
	}
	for range r.count(minEntry) {
		y.Pages = append(y.Pages, Page{r.uvarint(), r.ref()})
	}
	if len(r.b) > 0 {
		y.Refinements = r.refinements()
	}
	if len(r.b) > 0 {
		r.fail("%d bytes follow it", len(r.b))
	}
	if r.err != nil {
		return fmt.Errorf("index: %w", r.err)
	}
	*x = y
	return nil
}

// refinements reads the refinements, at least one.
func (r *indexReader) refinements() (list []Refinement) {
	n, version, finer := r.count(1+minEntry), r.uvarint(), uint64(1)
	if n == 0 || n > MaxFolds {
		r.fail("%d refinements, want 1 to %d", n, MaxFolds)
		return nil
	}
	for range n {
		x := Refinement{r.uvarint(), version, r.ref(), r.ref()}
		if x.Fold <= finer || x.Fold%finer != 0 {
			r.fail("a refinement from the class %d to %d", x.Fold, finer)
		}
		list, finer = append(list, x), x.Fold
	}
	return list
}

// remove removes an object from the lists.
func (x *Index) remove(r Ref) {
	for i := range x.Refinements {
		if x.Refinements[i].Ref == r {
			x.Refinements = x.Refinements[:i]
			break
		}
		if x.Refinements[i].Snapshot == r {
			x.Refinements[i].Snapshot = Ref{Bytes: maxObject + 1} // none that is fetched
		}
	}
	x.Snapshots = slices.DeleteFunc(x.Snapshots, func(s Snapshot) bool { return s.Ref == r })
	x.Deltas = slices.DeleteFunc(x.Deltas, func(d Delta) bool { return d.Ref == r })
}

// page returns the reference to a page.
func (x *Index) page(number uint64) (Ref, bool) {
	i, ok := slices.BinarySearchFunc(x.Pages, number, func(p Page, n uint64) int {
		if p.Number < n {
			return -1
		} else if p.Number > n {
			return 1
		}
		return 0
	})
	if !ok {
		return Ref{}, false
	}
	return x.Pages[i].Ref, true
}

// indexReader reads fields and keeps the first error, after which all fields are zero.
type indexReader struct {
	b   []byte
	err error
}

func (r *indexReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = sentinel.Errorf(ErrCorrupt, format, args...)
	}
	r.b = nil
}

func (r *indexReader) next(n int) []byte {
	if len(r.b) < n {
		r.fail("%d bytes are missing", n-len(r.b))
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *indexReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || size > 1 && r.b[size-1] == 0 {
		r.fail("a number that is not in its shortest form of at most 64 bits")
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *indexReader) ref() Ref {
	n := r.uvarint()
	return Ref{Hash(r.next(len(Hash{}))), n}
}

// minEntry is the least number of bytes of an entry of a list with references.
const minEntry = 1 + 1 + len(Hash{})

// count returns the length of a list whose entries have at least the given number of bytes. It is at
// most what the remaining bytes can hold.
func (r *indexReader) count(entry int) uint64 {
	n := r.uvarint()
	if n > uint64(len(r.b)/entry) {
		r.fail("a list of %d entries in %d bytes", n, len(r.b))
		return 0
	}
	return n
}
