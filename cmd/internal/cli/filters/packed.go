package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// packedInfo is the size of a packed filter.
type packedInfo struct {
	Packed       uint64                 `json:"packedBytes"`  // of the whole file
	EntropyBytes cli.Float              `json:"entropyBytes"` // of the cells, block by block
	Codings      map[string]codingTally `json:"codings,omitempty"`
	Estimated    bool                   `json:"estimated,omitempty"` // from a sample of the cells, without codings
}

type codingTally struct {
	Blocks uint64 `json:"blocks"`
	Bytes  uint64 `json:"bytes"`
}

// packed measures a state without writing it.
func packed(s umbel.State) (packedInfo, error) { return writePacked(io.Discard, s) }

// writePacked packs a state and describes the result.
func writePacked(w io.Writer, s umbel.State) (packedInfo, error) {
	var c wire.PackStats
	p := container.Packer()
	p.Stats = &c
	err := p.Write(w, s)
	return packedInfoOf(c), err
}

// sampleBytes is the memory of cells up to which [nearlyPacked] packs all of them.
const sampleBytes = 16 << 20

// nearlyPacked is packed, but of a large state it packs a part only and estimates the sizes. Blocks of cells
// are packed independently, and keys set the cells of an array with equal probability.
func nearlyPacked(s umbel.State) (packedInfo, error) {
	bytes := s.Bytes()
	if bytes <= sampleBytes {
		return packed(s)
	}
	part := sampleOf(s, float64(sampleBytes)/float64(bytes))
	in, err := packed(part)
	share := float64(part.Bytes()) / float64(bytes)
	return packedInfo{
		Packed: uint64(float64(in.Packed) / share), EntropyBytes: cli.Float(float64(in.EntropyBytes) / share), Estimated: true,
	}, err
}

// sampleOf returns s with a share of each array, in whole blocks of cells. It shares the memory of s.
func sampleOf(s umbel.State, share float64) umbel.State {
	const block = 64 << 10 / 8 // words
	s.Arrays, s.Parts = slices.Clone(s.Arrays), slices.Clone(s.Parts)
	for i, a := range s.Arrays {
		blocks := int(math.Ceil(share * float64(len(a.Words)) / block))
		if n := blocks * block; n < len(a.Words) {
			s.Arrays[i] = cells.Array{Len: uint64(n) * 64 / uint64(a.Width), Width: a.Width, Words: a.Words[:n]}
		}
	}
	for i, p := range s.Parts {
		s.Parts[i] = sampleOf(p, share)
	}
	return s
}

func packedInfoOf(c wire.PackStats) packedInfo {
	in := packedInfo{Packed: c.Bytes, EntropyBytes: cli.Float(c.Entropy / 8), Codings: map[string]codingTally{}}
	for i, t := range tallies(c) {
		if t.Blocks > 0 {
			in.Codings[codingNames[i]] = codingTally(t)
		}
	}
	return in
}

var codingNames = []string{"raw", "empty", "full", "arithmetic", "positions", "rare"}

func tallies(c wire.PackStats) []wire.BlockStats {
	return []wire.BlockStats{c.Raw, c.Empty, c.Full, c.Arithmetic, c.Positions, c.Rare}
}

// blocks lists the number of blocks of each coding.
func (in packedInfo) blocks() string {
	var all []string
	for _, name := range codingNames {
		if t, ok := in.Codings[name]; ok {
			all = append(all, fmt.Sprintf("%v %s", quantity.Count(t.Blocks), name))
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// openSparse opens the sparse filter that was read from a file.
func openSparse(file string, s umbel.State) (*sparse.Filter, error) {
	if s.Kind != sparse.Name {
		return nil, sentinel.Errorf(errors.ErrUnsupported, "%s: kind %s, want %s; leave out --bloom", file, s.Kind, sparse.Name)
	}
	f, err := sparse.Open(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

// packedFile is a packed filter in its file. Queries decode the blocks that they need.
type packedFile struct {
	name string
	file *mapped.Filter
}

// Each implements [querier], for the verb has.
func (p packedFile) Each(_ context.Context, _ remote.Verb, batches iter.Seq2[[][]byte, error], answered func([][]byte, []uint64) error) error {
	var has []bool
	return inBatches(p.file.State().Hasher, batches, answered, func(ns []uint64, ds []umbel.Digest, _ [][]byte) error {
		has = slices.Grow(has[:0], len(ds))[:len(ds)]
		if err := p.file.HasAll(has, ds); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for i, yes := range has {
			ns[i] = AnswerOf(yes)
		}
		return nil
	})
}

// Keys implements [querier], for the verb has.
func (p packedFile) Keys(ctx context.Context, v remote.Verb, list [][]byte) ([]uint64, error) {
	return oneBatch(ctx, p, v, list)
}
