package cuckoo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A dump of CF.* begins with a header of little-endian 8-byte numbers: the mark; the parameters of the
// state (names, then "full" and "max-bytes"); the number of parts; and for each part the number of
// counters, k, group and width. The counters follow, part by part. The format differs from RedisBloom's,
// which contains fingerprints.
const (
	mark        = 0x314643_6c65626d75 // "umbelCF1"
	headerBytes = 8 * 16
	chunkBytes  = 16 << 20
)

// ErrForeign means that a header is not one of this package but, for example, of RedisBloom.
var ErrForeign = errors.New("the header is not one of umbel")

// rowNames are the parameters of dynamic.Counting.
var rowNames = []string{"full", "max-bytes"}

// Describe returns the line of CF.DEBUG.
func (f *Filter) Describe() string {
	return fmt.Sprintf("bktsize:%d buckets:%d items:%d deletes:%d filters:%d max_iterations:%d expansion:%d",
		f.Bucket, f.Buckets, f.Items, f.Deleted, f.Filters, f.Tries, f.Expansion)
}

// header returns the header of the filter's dump.
func (f *Filter) header() []byte {
	b := binary.LittleEndian.AppendUint64(nil, mark)
	s := f.State()
	for _, p := range s.Params {
		b = binary.LittleEndian.AppendUint64(b, p.Value.Bits())
	}
	part := s.Parts[0]
	for _, n := range []uint64{uint64(len(s.Parts)), part.Arrays[0].Len, part.Params.Uint("k"), part.Params.Uint("group"), uint64(part.Arrays[0].Width)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// FromHeader returns the filter of a header with all counters zero. It returns an error
// wrapping umbel.ErrLimit, before it allocates them, if they need more than maxBytes.
func FromHeader(b []byte, maxBytes uint64) (*Filter, error) {
	if len(b) != headerBytes || binary.LittleEndian.Uint64(b) != mark {
		return nil, ErrForeign
	}
	next := func() uint64 {
		b = b[8:]
		return binary.LittleEndian.Uint64(b)
	}
	s := umbel.State{Kind: Name, Hasher: redisbloom.RedisHasher}
	for _, name := range slices.Concat(names, rowNames) {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(next())})
	}
	parts, counters, k, group, width := next(), next(), next(), next(), uint(min(next(), 255))
	words, err := cells.WordsFor(counters, width)
	if err != nil {
		return nil, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	const state = 1 << 10 // approximate overhead of a part
	if parts > maxBytes/(words*8+state) {
		return nil, sentinel.Errorf(umbel.ErrLimit, "%d parts of %d words are more than %d bytes", parts, words, maxBytes)
	}
	for range parts {
		a, err := cells.New(counters, width)
		if err != nil {
			return nil, sentinel.Wrap(umbel.ErrLimit, err)
		}
		s.Parts = append(s.Parts, umbel.State{
			Kind: counting.Name, Hasher: s.Hasher, Arrays: []cells.Array{a},
			Params: umbel.Params{{Name: "k", Value: umbel.Uint(k)}, {Name: "group", Value: umbel.Uint(group)}, {Name: "copied"}},
		})
	}
	return open(s)
}

// isEmpty reports whether the filter has no items. Counters that are not zero are those of items, whatever their number
// is after items were deleted that had not been added.
func (f *Filter) isEmpty() bool {
	return f.Items == 0 && !slices.ContainsFunc(f.State().Parts, func(p umbel.State) bool {
		return slices.ContainsFunc(p.Arrays[0].Words, func(w uint64) bool { return w != 0 })
	})
}

// ScanDump returns the header for iter 0, and nothing for an empty filter, as RedisBloom does; for iter 1+n it returns
// bytes from offset n of the parts, of one part only.
func (f *Filter) ScanDump(iter int64) (next int64, data []byte) {
	switch {
	case iter == 0 && f.isEmpty():
		return 0, nil
	case iter == 0:
		return 1, f.header()
	}
	at := iter - 1
	for _, p := range f.State().Parts {
		words := p.Arrays[0].Words
		n := int64(len(words)) * 8
		if at >= 0 && at < n {
			end := min(at+chunkBytes, n)
			words = words[at/8 : (end+7)/8]
			data = make([]byte, 8*len(words))
			statecode.PutWords(data, words)
			data = data[at%8:][:end-at]
			return iter + end - at, data
		}
		at -= n
	}
	return 0, nil
}
