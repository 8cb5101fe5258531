package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/wire"
)

// packedEachTime sends the published filter as a container.
func packedEachTime(_, now *set) (receipt, error) {
	f, err := now.sparse()
	if err != nil {
		return receipt{}, err
	}
	return container(f)
}

// ribbonEachTime sends the smallest filter that umbel has.
func ribbonEachTime(_, now *set) (receipt, error) {
	shape, err := ribbon.Plan(umbel.Goal{Keys: uint64(len(now.keys)), FPRate: targetRate})
	if err != nil {
		return receipt{}, err
	}
	f, err := ribbon.NewShape(shape)
	if err != nil {
		return receipt{}, err
	}
	umbel.AddAll(f, nil, now.digests)
	if err := f.Seal(); err != nil {
		return receipt{}, err
	}
	return container(f)
}

// container sends a whole filter, packed.
func container(f umbel.Filter) (receipt, error) {
	message, err := wire.Packer{}.Append(nil, f.State())
	if err != nil {
		return receipt{}, err
	}
	state, err := wire.Parse(message, wire.Limits{})
	if err != nil {
		return receipt{}, err
	}
	got, err := filter.All.Open(state)
	if err != nil {
		return receipt{}, err
	}
	return receipt{len(message), len(message), int(state.Bytes()), hasDigest(got)}, nil
}

// cacheDigest sends a filter of the size of Squid's cache digests: 5 bits per key, 4 positions, and a
// header (Hamilton, Rousskov and Wessels, Cache Digest specification, version 5, 1998). That takes
// positions from MD5. Digests have no updates.
func cacheDigest(_, now *set) (receipt, error) {
	const header = 128
	f, err := now.bloom(5*uint64(len(now.keys)), 4)
	if err != nil {
		return receipt{}, err
	}
	n := int(f.State().Bytes())
	return receipt{header + n, header + n, n, hasDigest(f)}, nil
}

// zstdFromOld sends the cells of the published filter, and then those of the new one with the old ones
// as dictionary, as zstd --patch-from does.
func zstdFromOld(old, now *set) (receipt, error) {
	return cells(old, now, func(before, after []byte) ([]byte, error) {
		window := max(zstd.MinWindowSize, 1<<bits.Len(uint(2*len(after))))
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(window), zstd.WithEncoderDictRaw(1, before))
		if err != nil {
			return nil, err
		}
		defer e.Close()
		return e.EncodeAll(after, nil), nil
	}, func(before, message []byte) ([]byte, error) {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDictRaw(1, before))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return d.DecodeAll(message, nil)
	})
}

// zstdOfChange sends the cells of the published filter, and then the exclusive or of old and new ones.
func zstdOfChange(old, now *set) (receipt, error) {
	return cells(old, now, func(before, after []byte) ([]byte, error) {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer e.Close()
		return e.EncodeAll(exclusiveOr(before, after), nil), nil
	}, func(before, message []byte) ([]byte, error) {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		change, err := d.DecodeAll(message, nil)
		if err != nil || len(change) != len(before) {
			return nil, errors.Join(err, errors.New("a change of another length"))
		}
		return exclusiveOr(before, change), nil
	})
}

// cells sends the cells of the filter that umbel publishes. The first message has zeros as old cells.
func cells(old, now *set, encode, decode func(before, data []byte) ([]byte, error)) (receipt, error) {
	f, err := old.sparse()
	if err != nil {
		return receipt{}, err
	}
	g, err := now.sparse()
	if err != nil {
		return receipt{}, err
	}
	has := make([]byte, f.State().Bytes())
	var sent [2]int
	for i, words := range [][]uint64{f.State().Arrays[0].Words, g.State().Arrays[0].Words} {
		after := bytesOf(words)
		message, err := encode(has, after)
		if err != nil {
			return receipt{}, err
		}
		sent[i] = len(message)
		if has, err = decode(has, message); err != nil {
			return receipt{}, err
		}
		if !bytes.Equal(has, after) {
			return receipt{}, errors.New("the receiver has other cells")
		}
	}
	return receipt{sent[0], sent[1], len(has), hasDigest(g)}, nil
}

func bytesOf(words []uint64) []byte {
	b := make([]byte, 0, 8*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func exclusiveOr(a, b []byte) []byte {
	c := make([]byte, len(a))
	for i := range c {
		c[i] = a[i] ^ b[i]
	}
	return c
}

func hasDigest(f umbel.Filter) func(string) bool {
	return func(key string) bool { return f.Has(digest(key)) }
}
