package main

import (
	"io"

	"github.com/bits-and-blooms/bloom/v3"
	boom "github.com/tylertreat/BoomFilters"
)

// The libraries that hash keys themselves.

func bitsAndBlooms(z size, in input) (*subject, error) {
	f := bloom.NewWithEstimates(uint(z.keys), z.rateOrEqual())
	if z.rate == 0 {
		f = bloom.New(uint(z.bits()), uint(bestK(z.bits(), z.keys)))
	}
	return &subject{
		bits:  uint64(f.Cap()),
		clear: func() { f.ClearAll() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		save:  func(w io.Writer) error { _, err := f.WriteTo(w); return err },
		load:  func(r io.Reader) error { _, err := new(bloom.BloomFilter).ReadFrom(r); return err },
	}, nil
}

func boomClassic(z size, in input) (*subject, error) {
	f := boom.NewBloomFilter(uint(z.keys), z.rateOrEqual())
	return &subject{
		bits:  uint64(f.Capacity()),
		clear: func() { f.Reset() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		save:  func(w io.Writer) error { _, err := f.WriteTo(w); return err },
		load:  func(r io.Reader) error { _, err := new(boom.BloomFilter).ReadFrom(r); return err },
	}, nil
}

// boomCounting has four bits a counter. It numbers bits in 32 bits and takes no
// more.
func boomCounting(z size, in input) (*subject, error) {
	const width, limit = 4, 1 << 32
	if uint64(boom.OptimalM(uint(z.keys), z.rateOrEqual())) > limit/width {
		return nil, nil
	}
	f := boom.NewCountingBloomFilter(uint(z.keys), width, z.rateOrEqual())
	return &subject{
		bits:   uint64(f.Capacity()) * width,
		clear:  func() { f.Reset() },
		add:    func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:    func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		remove: func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.TestAndRemove(key) }) },
	}, nil
}

// boomScalable has layers of equal size, each stricter than the one before.
func boomScalable(z size, in input) (*subject, error) {
	f := boom.NewScalableBloomFilter(uint(z.keys/growth), z.rateOrEqual(), 0.8)
	return &subject{
		grown: func() uint64 { return uint64(f.Capacity()) },
		clear: func() { f.Reset() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
	}, nil
}

func boomPartitioned(z size, in input) (*subject, error) {
	f := boom.NewPartitionedBloomFilter(uint(z.keys), z.rateOrEqual())
	return &subject{
		bits:  uint64(f.Capacity()),
		clear: func() { f.Reset() },
		add:   func(k *keys) { eachKey(k, func(key []byte) { f.Add(key) }) },
		has:   func(k *keys) int { return countKeys(k, func(key []byte) bool { return f.Test(key) }) },
		save:  func(w io.Writer) error { _, err := f.WriteTo(w); return err },
		load:  func(r io.Reader) error { _, err := new(boom.PartitionedBloomFilter).ReadFrom(r); return err },
	}, nil
}
