package main

import (
	"encoding"
	"testing"

	bitsandblooms "github.com/bits-and-blooms/bloom/v3"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// BenchmarkOpen opens encoded filters of 1000 keys at 1 %, as a store with a filter for each of many tables does. umbel
// checks a checksum of all bytes; bits-and-blooms has none.
func BenchmarkOpen(b *testing.B) {
	const keys = 1000
	ours, theirs := fixture.Must(bloom.New(keys, 0.01)), bitsandblooms.NewWithEstimates(keys, 0.01)
	for i := range uint64(keys) {
		key := []byte{byte(i), byte(i >> 8)}
		ours.AddBytes(key)
		theirs.Add(key)
	}
	container, encoding := mustMarshal(ours), mustMarshal(theirs)
	kinds := umbel.Kinds{bloom.Kind}
	for _, c := range []struct {
		name string
		open func() error
	}{
		{"bits-and-blooms", func() error { return new(bitsandblooms.BloomFilter).UnmarshalBinary(encoding) }},
		{"umbel", func() error { return new(bloom.Filter).UnmarshalBinary(container) }},
		{"umbel Parse and Open", func() error { return opened(bloom.Open, wire.Parse, container) }},
		{"umbel View and Open", func() error { return opened(bloom.Open, wire.View, container) }},
		{"umbel Parse and Kinds.Open", func() error { return opened(kinds.Open, wire.Parse, container) }},
	} {
		b.Run("open/"+c.name+"/n=1e3", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.open(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func mustMarshal(f encoding.BinaryMarshaler) []byte { return fixture.Must(f.MarshalBinary()) }

func opened[F any](open func(umbel.State) (F, error), read func([]byte, wire.Limits) (umbel.State, error), b []byte) error {
	s, err := read(b, wire.Limits{})
	if err == nil {
		_, err = open(s)
	}
	return err
}
