package filtertest

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// curious is a filter whose queries leave a trace that its state does not show.
type curious struct {
	*bloom.Filter
	queries int
}

func (f *curious) Has(d umbel.Digest) bool {
	f.queries++
	return f.Filter.Has(d)
}

type lostKey struct{ *bloom.Filter }

func (f *lostKey) AddAll(changed []bool, ds []umbel.Digest) { f.Filter.AddAll(changed, ds[:len(ds)-1]) }

type plainBytes struct{ *bloom.Filter }

func (f *plainBytes) AddBytes(key []byte) bool {
	return f.Add(umbel.DigestFromHash64(uint64(len(key))))
}

type firstAnswer struct{ *bloom.Filter }

func (f *firstAnswer) HasAll(dst []bool, ds []umbel.Digest) { dst[0] = f.Has(ds[0]) }

type otherHasher struct{ *bloom.Filter }

func (f *otherHasher) Hasher() umbel.Hasher { return umbel.Hasher{Alg: umbel.MD5} }

type idleAtomic struct{ *bloom.Filter }

func (f *idleAtomic) AddAtomic(umbel.Digest) bool { return false }

type unmeasured struct{ *bloom.Filter }

func (f *unmeasured) WriteTo(w io.Writer) (int64, error) {
	_, err := f.Filter.WriteTo(w)
	return 0, err
}

type clearedEarly struct{ *bloom.Filter }

func (f *clearedEarly) ReadFrom(r io.Reader) (int64, error) {
	f.Filter = new(bloom.Filter)
	return f.Filter.ReadFrom(r)
}

type sharedClone struct{ *bloom.Filter }

func (f *sharedClone) Clone() *bloom.Filter { return f.Filter }

type sharedSnapshot struct{ *bloom.Filter }

func (f *sharedSnapshot) CloneAtomic() *bloom.Filter { return f.Filter }

type emptySnapshot struct{ *bloom.Filter }

func (f *emptySnapshot) CloneAtomic() *bloom.Filter {
	empty, _ := bloom.NewShape(f.Shape())
	return empty
}

type keylessJSON struct{ *bloom.Filter }

func (f *keylessJSON) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

type keylessText struct{ *bloom.Filter }

func (f *keylessText) MarshalText() ([]byte, error) {
	empty, _ := bloom.NewShape(f.Shape())
	return empty.MarshalText()
}

type silentText struct{ *bloom.Filter }

func (f *silentText) UnmarshalText(b []byte) error {
	_ = f.Filter.UnmarshalText(b)
	return nil
}

type loudText struct{ *bloom.Filter }

func (f *loudText) MarshalText() ([]byte, error) {
	b, err := f.MarshalBinary()
	return base64.StdEncoding.AppendEncode(nil, b), err
}

type loudLog struct{ *bloom.Filter }

func (f *loudLog) LogValue() slog.Value { return slog.AnyValue(f.Hasher().Seed.Bytes()) }

type roughEqual struct{ *bloom.Filter }

func (f *roughEqual) Clone() *roughEqual           { return &roughEqual{f.Filter.Clone()} }
func (f *roughEqual) Equal(other *roughEqual) bool { return f.Shape().M == other.Shape().M }

type unplanned struct{ *bloom.Filter }

func (f *unplanned) State() umbel.State {
	s := f.Filter.State()
	s.Planned = umbel.Planned{}
	return s
}

type loudSeed struct{ *bloom.Filter }

func (f *loudSeed) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "%x", f.Hasher().Seed.Bytes()) }

// words returns the two little-endian words of a seed.
func words(s umbel.Seed) [2]uint64 {
	b := s.Bytes()
	return [2]uint64{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

type loudCopy struct {
	*bloom.Filter
	Seed [2]uint64
}

func newLoudCopy(f *bloom.Filter) umbel.Filter {
	return &loudCopy{f, words(f.Hasher().Seed)}
}

func (f *loudCopy) Format(s fmt.State, _ rune) { f.Filter.Format(s, 'v') }

type loudError struct{ *bloom.Filter }

func (f *loudError) Merge(s umbel.State) error {
	if err := f.Filter.Merge(s); err != nil {
		return fmt.Errorf("seed %d: %w", words(f.Hasher().Seed)[0], err)
	}
	return nil
}
