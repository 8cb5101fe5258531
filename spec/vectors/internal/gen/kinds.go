package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// hashers are the hashers of the filters.
var hashers = []umbel.Hasher{
	{},
	{Seed: fixture.Seed(0x0123456789abcdef, 0)},
	{Alg: umbel.SipHash, Seed: fixture.Seed(0x0123456789abcdef, 0xfedcba9876543210)},
	{Alg: umbel.XXH64},
	{Alg: umbel.Murmur64A},
	{Alg: umbel.MD5},
	{Alg: umbel.Caller},
}

// size is a size of filters: parameters, from which each kind uses those that it has, and the
// number of keys for kinds without a parameter m.
type size struct {
	name   string
	params umbel.Params
	keys   uint64
}

func sized(name string, m, k, words, bits, keys uint64) size {
	return size{name, umbel.Params{
		{Name: "m", Value: umbel.Uint(m)}, {Name: "k", Value: umbel.Uint(k)},
		{Name: "words", Value: umbel.Uint(words)}, {Name: "bits", Value: umbel.Uint(bits)},
	}, keys}
}

// Filters that grow have several parts in the small size. The large size is above the one from
// which folds keep words together.
var (
	small = sized("small", 1000, 5, 3, 2, 6)
	large = sized("large", 61_440, 3, 4, 1, 1500)
)

// smallRate is the rate for which filters are planned.
const smallRate = 0.05

// added is the number of keys in a filter.
const added = 20

// late is the number of keys that are added after Seal.
const late = 3

// make returns an empty filter of the size z. It uses a plan only for kinds without a parameter
// m, and none for the kinds whose plans of few keys have changed since their vectors were written.
func (z size) make(v umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	switch {
	case v.Name == dynamic.Name && z.name == small.name:
		return v.Open(dynamicSmall(h, 0))
	case v.Name == union.Name && z.name == small.name:
		return union.Of(dynamicSmall(h, 0))
	}
	var ps umbel.Params
	for _, d := range v.Params {
		if n, ok := z.params.Get(d.Name); ok {
			ps = append(ps, umbel.Param{Name: d.Name, Value: n})
		}
	}
	g := umbel.Goal{Hasher: h}
	if _, ok := ps.Get("m"); !ok {
		g.Keys, g.FPRate, ps = z.keys, smallRate, nil
	}
	f, err := v.New(g, ps)
	if err != nil {
		return nil, fmt.Errorf("%s with %v: %w", v.Name, ps, err)
	}
	return f, nil
}

// dynamicSmall returns the state of an empty dynamic filter with layers of the small size: of bits, or of counters of
// width bits.
func dynamicSmall(h umbel.Hasher, width uint) umbel.State {
	s := dynamic.Shape{Layer: bloom.Shape{M: 63, K: 4, Hasher: h}, Full: 30, Width: width}
	if width != 0 {
		return must(dynamic.NewCountingShape(s)).State()
	}
	return must(dynamic.NewShape(s)).State()
}

func must[F any](f F, err error) F {
	if err != nil {
		panic(err) // the shape is a constant
	}
	return f
}

// kinds returns vectors of filters of all kinds with a few keys, and of invalid states.
func kinds() ([]file, error) {
	var files []file
	for _, v := range filter.All {
		var all []filled
		for _, h := range hashers {
			all = append(all, filled{small.name + "-" + hasherName(h), "", small.make, h, added, false})
		}
		all = append(all, filled{large.name + "-" + hasherName(umbel.Hasher{}), "", large.make, umbel.Hasher{}, added, false})
		for _, f := range forms {
			if f.kind == v.Name {
				all = append(all, filled{f.name, ", " + f.comment, f.make, umbel.Hasher{Alg: umbel.MD5}, f.keys, f.forgets})
			}
		}
		empty, err := small.make(v, umbel.Hasher{})
		if err != nil {
			return nil, err
		}
		unplanned(empty)
		states := []umbel.State{empty.State()}
		for _, x := range all {
			f, s, err := x.file(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.name, err)
			}
			files, states = append(files, f), append(states, s)
			if isPacked := x.hasher.Alg == umbel.MD5 || x.name == small.name+"-xxh3"; isPacked {
				p, err := packedFile(f, s)
				if err != nil {
					return nil, err
				}
				files = append(files, p)
			}
		}
		bad, err := badStates(v, states)
		if err != nil {
			return nil, err
		}
		files = append(files, bad...)
	}
	return files, nil
}

func hasherName(h umbel.Hasher) string {
	if h.Alg == umbel.XXH3 && h.Seed != (umbel.Seed{}) {
		return h.Alg.String() + "-seed"
	}
	return h.Alg.String()
}

// filled is a filter with keys.
type filled struct {
	name, comment string
	make          func(umbel.Kind, umbel.Hasher) (umbel.Filter, error)
	hasher        umbel.Hasher
	keys          int
	forgets       bool
}

// unplanned removes what the filter was made for, which is tested by vectors of containers.
func unplanned(f umbel.Filter) { f.(umbel.Planner).SetPlanned(umbel.Planned{}) }

// file returns the vector of the filter, and its state.
func (x filled) file(v umbel.Kind) (file, umbel.State, error) {
	f, err := x.make(v, x.hasher)
	if err != nil {
		return file{}, umbel.State{}, err
	}
	unplanned(f)
	for i := range x.keys {
		if sealer, ok := f.(umbel.Sealer); ok && i == x.keys-late {
			if err := sealer.Seal(); err != nil {
				return file{}, umbel.State{}, err
			}
		}
		if err := x.add(f, i); err != nil {
			return file{}, umbel.State{}, err
		}
	}
	s := f.State()
	header := []field{
		{"comment", fmt.Sprintf("%s filter%s, hash %s", withArticle(v.Name), x.comment, describe(x.hasher))},
		{"expect", "ok"},
		{"kind", v.Name},
		{"form", "written"},
		{"id", hashtree.Identify(s).String()},
	}
	var keys, counts, absent []field
	for i := range x.keys + 20 {
		key := keyFor(x.hasher, i)
		text := hex.EncodeToString(key)
		switch there := has(f, key); {
		case i < x.keys && !there && !x.forgets:
			return file{}, umbel.State{}, fmt.Errorf("key %d was added and is absent", i)
		case i < x.keys && there:
			keys = append(keys, field{"key", text})
			if c, ok := f.(umbel.Counter); ok {
				counts = append(counts, field{"count", text + " " + count(c, digestOf(x.hasher, key))})
			}
		case !there:
			absent = append(absent, field{"absent", text})
		}
	}
	b, err := wire.Append(nil, s)
	return file{Path: "kinds/" + v.Name + "-" + x.name + ".txt", Header: slices.Concat(header, keys, counts, absent), Body: vector.HexLines(b)}, s, err
}

// add adds key i. If the filter counts, it adds every third key twice and the first key more
// often than a counter of 4 bits can count. If the filter expires keys, it advances the time
// first.
func (x filled) add(f umbel.Filter, i int) error {
	if a, ok := f.(umbel.Advancer); ok && x.forgets && f.State().Params.Uint("ticks") != 0 {
		if err := a.Advance(uint64(i)); err != nil {
			return err
		}
	}
	key := keyFor(x.hasher, i)
	d := digestOf(x.hasher, key)
	if c, ok := f.(umbel.Classifier); ok {
		if class, ok := c.Class(key); ok {
			c.AddClass(d, class)
			return nil
		}
	}
	times := 1
	if _, ok := f.(umbel.Counter); ok && i == 0 {
		times = 40
	} else if ok && i%3 == 0 {
		times = 2
	}
	for range times {
		f.Add(d)
	}
	return nil
}

// count returns the count of d in decimal, or "unknown".
func count(c umbel.Counter, d umbel.Digest) string {
	if n, known := c.Count(d); known {
		return fmt.Sprint(n)
	}
	return "unknown"
}

// has queries a key, with the class that the key determines, if any.
func has(f umbel.Filter, key []byte) bool {
	d := digestOf(f.Hasher(), key)
	if c, ok := f.(umbel.Classifier); ok {
		if class, ok := c.Class(key); ok {
			return c.HasClass(d, class)
		}
	}
	return f.Has(d)
}

// keyFor returns the i-th key: a short text or, for hash caller, an encoded digest.
func keyFor(h umbel.Hasher, i int) []byte {
	if h.Alg != umbel.Caller {
		return fmt.Appendf(nil, "key %d", i)
	}
	d := umbel.Digest{H1: umbel.DigestFromHash64(^uint64(i)).H2, H2: umbel.DigestFromHash64(uint64(i)).H2}
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, d.H1), d.H2)
}

// describe returns the algorithm and the seed of a hasher, which in a vector is public.
func describe(h umbel.Hasher) string {
	seed := h.Seed.Bytes()
	switch {
	case h.Seed == umbel.Seed{}:
		return h.Alg.String()
	case h.Alg == umbel.SipHash:
		return fmt.Sprintf("%s, seed %x", h.Alg, seed)
	}
	return fmt.Sprintf("%s, seed %x", h.Alg, seed[:8])
}
