package main

import (
	"compress/gzip"
	"math"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
)

// Costs are the bytes of one or more versions in other forms.
type Costs struct {
	// Packed are containers of the filter that the subscriber has, the whole one or a fold, as small as
	// package wire can make them.
	Packed uint64 `json:"packedBytes"`
	// Unpacked are containers of the same filter as it is in memory.
	Unpacked uint64 `json:"unpackedBytes"`
	// Digests are filters of 5 bits per key with a head of 128 bytes, as Squid's caches exchange.
	Digests uint64 `json:"digestBytes"`
	// Lists are sorted lists of all keys, compressed with gzip.
	Lists uint64 `json:"listBytes"`
	// ListChanges are the first list, and then the lists of the keys that were added and removed,
	// compressed with gzip.
	ListChanges uint64 `json:"listChangeBytes"`
}

func (c *Costs) add(d Costs) {
	c.Packed += d.Packed
	c.Unpacked += d.Unpacked
	c.Digests += d.Digests
	c.Lists += d.Lists
	c.ListChanges += d.ListChanges
}

// maxListed is the maximum number of keys that are compressed to measure a list.
const maxListed = 50_000

// costsOf returns the costs of a version by the fold class of the receiver, given its filter, its keys and
// the change that led to it.
func costsOf(f *bloom.Filter, keys *set, c change) (map[uint64]Costs, error) {
	n, _, _ := keys.size()
	lists := Costs{Digests: digestBytes(n), Lists: listBytes(keys.keys(maxListed), n), ListChanges: changeBytes(c)}
	costs := make(map[uint64]Costs)
	for _, fold := range append([]uint64{1}, folds...) {
		folded := f
		if fold > 1 {
			folded = f.Clone()
			if err := folded.Fold(fold); err != nil {
				return nil, err
			}
		}
		var packed byteCount
		if err := (wire.Packer{}).Write(&packed, folded.State()); err != nil {
			return nil, err
		}
		both := lists
		both.Packed, both.Unpacked = uint64(packed), wire.Size(folded.State())
		costs[fold] = both
	}
	return costs, nil
}

// digestBytes returns the bytes of a digest of a number of keys with Squid's default, 5 bits per key.
func digestBytes(keys uint64) uint64 { return 128 + (5*keys+7)/8 }

// digestPeriod is Squid's default for the time between two digests.
const digestPeriod = time.Hour

// listBytes returns the bytes of a list of n keys. Some of them are given. If not all are, the
// bytes are those of the given ones, scaled.
func listBytes(keys []string, n uint64) uint64 {
	if len(keys) == 0 {
		return 0
	}
	slices.Sort(keys)
	b := float64(zipped(keys))
	return uint64(math.Round(b * float64(n) / float64(len(keys))))
}

// changeBytes returns the bytes of a list of changes, or of as many as are measured, scaled.
func changeBytes(c change) uint64 {
	n := len(c.added) + len(c.removed)
	if n == 0 {
		return 0
	}
	lines := make([]string, 0, min(n, maxListed))
	for _, part := range []struct {
		sign string
		keys []string
	}{{"+", c.added}, {"-", c.removed}} {
		for _, key := range part.keys[:min(len(part.keys), maxListed-len(lines))] {
			lines = append(lines, part.sign+key)
		}
	}
	return listBytes(lines, uint64(n))
}

// zipped returns the bytes of lines that are compressed with gzip.
func zipped(lines []string) uint64 {
	var n byteCount
	z := gzip.NewWriter(&n)
	for _, l := range lines {
		z.Write([]byte(l + "\n"))
	}
	z.Close()
	return uint64(n)
}

// byteCount is a writer that counts bytes.
type byteCount uint64

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// outdated returns the share of a set's keys that a digest does not contain, on average over the time
// until the next digest. Keys are added at a rate per second, and leave in random order.
func outdated(keys uint64, addedPerSecond float64) float64 {
	x := addedPerSecond * digestPeriod.Seconds() / float64(max(keys, 1))
	if x < 1e-9 {
		return x / 2
	}
	return 1 - (1-math.Exp(-x))/x
}
