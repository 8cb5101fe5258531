package filtertest

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// TestBrokenZeroFails: each broken zero filter fails, and an unbroken one passes.
func TestBrokenZeroFails(t *testing.T) {
	for _, b := range []struct {
		what string
		make func() umbel.Filter
		want string // in the failure; "" if the filter is not broken
	}{
		{"unbroken", wrapZero[unbroken], ""},
		{"contains every key", wrapZero[holdingZero], "the zero filter contains 0"},
		{"a query panics", wrapZero[panickingZero], "a query"},
		{"stats have k", wrapZero[measuredZero], "want zeros"},
		{"Locate returns cells", wrapZero[locatingZero], "want nothing appended"},
		{"Add returns", wrapZero[takingZero], "Add to the zero filter panics with <nil>"},
		{"AddAll returns", wrapZero[takingBatchZero], "AddAll to the zero filter panics with <nil>"},
		{"AddAtomic returns", wrapZero[takingAtomicZero], "AddAtomic to the zero filter panics with <nil>"},
		{"panics with another text", wrapZero[wordyZero], "panics with no filter"},
		{"folds", wrapZero[foldingZero], "Fold(1)"},
		{"merges", wrapZero[mergingZero], "Merge"},
		{"MarshalBinary succeeds", wrapZero[containedZero], "MarshalBinary"},
		{"UnmarshalBinary changes nothing", wrapZero[unfillableZero], "after UnmarshalBinary"},
	} {
		t.Run(b.what, func(t *testing.T) {
			r := record(law{check: func(t tb, v umbel.Kind) { zero(t, v, b.make) }}, bloom.Kind)
			if r.failed != (b.want != "") || !strings.Contains(r.text(), b.want) {
				t.Errorf("failed: %v, with\n%s\nwant %q in it", r.failed, r.text(), b.want)
			}
		})
	}
}

// wrapZero is a zero Bloom filter with the methods of W.
func wrapZero[W ~struct{ *bloom.Filter }, P interface {
	*W
	umbel.Filter
}]() umbel.Filter {
	return P(&W{new(bloom.Filter)})
}

// made reports whether f is not a zero filter.
func made(f *bloom.Filter) bool { return f.Shape().M != 0 }

type unbroken struct{ *bloom.Filter }

type holdingZero struct{ *bloom.Filter }

func (f *holdingZero) Has(d umbel.Digest) bool { return !made(f.Filter) || f.Filter.Has(d) }

type panickingZero struct{ *bloom.Filter }

func (f *panickingZero) Has(d umbel.Digest) bool {
	if !made(f.Filter) {
		panic("no filter")
	}
	return f.Filter.Has(d)
}

type measuredZero struct{ *bloom.Filter }

func (f *measuredZero) Stats() umbel.Stats { s := f.Filter.Stats(); s.K = 8; return s }

type locatingZero struct{ *bloom.Filter }

func (f *locatingZero) Locate(dst []uint64, _ umbel.Digest) []uint64 { return append(dst, 0) }

type takingZero struct{ *bloom.Filter }

func (f *takingZero) Add(d umbel.Digest) bool { return made(f.Filter) && f.Filter.Add(d) }

type takingBatchZero struct{ *bloom.Filter }

func (f *takingBatchZero) AddAll([]bool, []umbel.Digest) {}

type takingAtomicZero struct{ *bloom.Filter }

func (f *takingAtomicZero) AddAtomic(umbel.Digest) bool { return false }

type wordyZero struct{ *bloom.Filter }

func (f *wordyZero) Add(d umbel.Digest) bool {
	if !made(f.Filter) {
		panic("no filter")
	}
	return f.Filter.Add(d)
}

type foldingZero struct{ *bloom.Filter }

func (f *foldingZero) Fold(r uint64) error {
	if r == 1 {
		return nil
	}
	return f.Filter.Fold(r)
}

type mergingZero struct{ *bloom.Filter }

func (f *mergingZero) Merge(umbel.State) error { return nil }

type containedZero struct{ *bloom.Filter }

func (f *containedZero) MarshalBinary() ([]byte, error) { return nil, nil }

type unfillableZero struct{ *bloom.Filter }

func (f *unfillableZero) UnmarshalBinary(b []byte) error { return new(bloom.Filter).UnmarshalBinary(b) }
