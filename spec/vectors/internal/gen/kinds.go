package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
)

// hashers are those that filters are made with.
var hashers = []umbel.Hasher{
	{},
	{Seed: umbel.Seed{Lo: 0x0123456789abcdef}},
	{Alg: umbel.SipHash, Seed: umbel.Seed{Lo: 0x0123456789abcdef, Hi: 0xfedcba9876543210}},
	{Alg: umbel.XXH64},
	{Alg: umbel.Murmur64A},
	{Alg: umbel.MD5},
	{Alg: umbel.Caller},
}

// size is a size of filters as parameters, of which each kind takes those it has.
type size struct {
	name   string
	params umbel.Params
}

func sized(name string, m, k, words, bits uint64) size {
	return size{name, umbel.Params{
		{Name: "m", Value: umbel.Uint(m)}, {Name: "k", Value: umbel.Uint(k)},
		{Name: "words", Value: umbel.Uint(words)}, {Name: "bits", Value: umbel.Uint(bits)},
	}}
}

// The second is beyond the size from which cells stay together in words.
var (
	small = sized("small", 1000, 5, 3, 2)
	large = sized("large", 61_440, 3, 4, 1)
)

// make returns an empty filter of that size, whatever plans may say.
func (z size) make(v umbel.Variant, h umbel.Hasher) (umbel.Filter, error) {
	var ps umbel.Params
	for _, d := range v.Params {
		if n, ok := z.params.Get(d.Name); ok {
			ps = append(ps, umbel.Param{Name: d.Name, Value: n})
		}
	}
	f, err := v.New(umbel.Goal{Hasher: h}, ps)
	if err != nil {
		return nil, fmt.Errorf("%s with %v: %w", v.Kind, ps, err)
	}
	return f, nil
}

// kinds returns filters of all kinds that hold a few keys, and states that no
// filter has.
func kinds() ([]file, error) {
	var files []file
	for _, v := range filter.All {
		for _, h := range hashers {
			f, err := filled(v, small, h)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
		f, err := filled(v, large, umbel.Hasher{})
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		bad, err := badStates(v)
		if err != nil {
			return nil, err
		}
		files = append(files, bad...)
	}
	return files, nil
}

// filled returns the vector of a filter with keys in it.
func filled(v umbel.Variant, z size, h umbel.Hasher) (file, error) {
	f, err := z.make(v, h)
	if err != nil {
		return file{}, err
	}
	name := v.Kind + "-" + z.name + "-" + h.Alg.String()
	if h.Alg == umbel.XXH3 && h.Seed != (umbel.Seed{}) {
		name += "-seed"
	}
	header := []field{
		{"comment", fmt.Sprintf("a %s filter, hash %v", v.Kind, h)},
		{"expect", "ok"},
		{"kind", v.Kind},
		{"form", "written"},
	}
	var keys, absent []field
	for i := range 40 {
		key := keyFor(h, i)
		d := h.Bytes(key)
		switch {
		case i < 20:
			f.Add(d)
			keys = append(keys, field{"key", hex.EncodeToString(key)})
		case !f.Has(d):
			absent = append(absent, field{"absent", hex.EncodeToString(key)})
		}
	}
	b, err := wire.Append(nil, f.State())
	header = append(header, field{"id", wire.Identify(f.State()).String()})
	return file{"kinds/" + name + ".txt", slices.Concat(header, keys, absent), hexLines(b)}, err
}

// keyFor returns the i-th key: short text, or what an outside hash gave.
func keyFor(h umbel.Hasher, i int) []byte {
	if h.Alg != umbel.Caller {
		return fmt.Appendf(nil, "key %d", i)
	}
	d := umbel.Digest{H1: umbel.Widen(^uint64(i)).H2, H2: umbel.Widen(uint64(i)).H2}
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, d.H1), d.H2)
}
