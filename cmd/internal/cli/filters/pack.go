package filters

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

const packHelp = `Write the filter in FILE in fewer bytes. Each block of 64 KiB of its cells gets the coding that
is smallest for it: about the entropy of its cells, and never more than the cells themselves.
It is the same filter, with the same ID, and all verbs read it. Those that change one filter, such as
umbel add, patch and fold, write it packed again.

A half full filter doesn't become smaller. A filter with many more cells per key does; umbel
plan --sent finds the best size for the bytes that are sent.

A sparse filter becomes smaller still as the equivalent Bloom filter: --bloom. umbel unpack
--sparse makes the sparse filter again.`

const packExample = `  umbel pack words.umb -o words.packed.umb
  umbel has words.packed.umb zebra
  umbel pack sparse.umb --bloom -o message.umb`

const unpackHelp = `Write the filter in FILE with its cells as they are in memory. This form is read and written
fastest. It is the same filter, with the same ID.

With --sparse a Bloom filter with k = 1 is written as the equivalent sparse filter, which
consists of positions instead of cells. Its cells are never expanded.`

const unpackExample = `  umbel unpack words.packed.umb -o words.umb
  umbel unpack message.umb --sparse -o sparse.umb`

// packing is the result of umbel pack.
type packing struct {
	File        string `json:"file"`
	Kind        string `json:"kind"`
	FileBytes   uint64 `json:"fileBytes"`
	Unpacked    uint64 `json:"unpackedBytes"` // of the unpacked file
	*packedInfo        // of umbel pack without --bloom
}

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

var codingNames = []string{"raw", "empty", "full", "arithmetic", "positions"}

func tallies(c wire.PackStats) []wire.BlockStats {
	return []wire.BlockStats{c.Raw, c.Empty, c.Full, c.Arithmetic, c.Positions}
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

func PackCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pack FILE [--bloom] -o FILE",
		Short:   "write a filter in the fewest bytes",
		Long:    packHelp,
		Example: packExample,
	}
	bloom := cmd.Flags().Bool("bloom", false, "write a sparse filter as the equivalent Bloom filter")
	return rewriteCommand(cmd, func(cmd *cobra.Command, from, to string) (packing, error) {
		s, err := cli.ReadFilter(cmd, from)
		if err != nil {
			return packing{}, err
		}
		p := packingOf(s)
		write := func(w io.Writer) error {
			in, err := writePacked(w, s)
			p.packedInfo = &in
			return err
		}
		if *bloom {
			f, err := openSparse(from, s)
			if err != nil {
				return p, err
			}
			write = func(w io.Writer) error { return f.WriteBloom(w, container.Packer()) }
		}
		p.FileBytes, err = cli.WriterOf(s.Hasher)(cmd, to, -1, write)
		return p, err
	}, func(p packing) string {
		if *bloom {
			return fmt.Sprintf("packed as a Bloom filter, %v bytes; the unpacked sparse filter takes %v bytes\n", quantity.Count(p.FileBytes), quantity.Count(p.Unpacked))
		}
		words := fmt.Sprintf("packed, %v bytes instead of %v; the entropy of the cells is %v bytes\nblocks: %s\n",
			quantity.Count(p.FileBytes), quantity.Count(p.Unpacked), quantity.Count(math.Ceil(float64(p.EntropyBytes))), p.blocks())
		if p.Kind == sparse.Name {
			words += "with --bloom it may take fewer bytes\n"
		}
		return words
	})
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

func UnpackCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unpack FILE [--sparse] -o FILE",
		Short:   "write a filter unpacked",
		Long:    unpackHelp,
		Example: unpackExample,
	}
	positions := cmd.Flags().Bool("sparse", false, "write a Bloom filter with k = 1 as a sparse filter")
	return rewriteCommand(cmd, func(cmd *cobra.Command, from, to string) (packing, error) {
		read := wire.Read
		if *positions {
			read = func(r io.Reader, l wire.Limits) (umbel.State, error) {
				f, err := sparse.Read(r, l)
				if err != nil {
					return umbel.State{}, err
				}
				return f.State(), nil
			}
		}
		s, _, err := cli.ReadFilterWith(cmd, from, read)
		if err != nil {
			return packing{}, err
		}
		p := packingOf(s)
		p.FileBytes, err = cli.WriterOf(s.Hasher)(cmd, to, int64(p.Unpacked), func(w io.Writer) error { return wire.Write(w, s) })
		return p, err
	}, func(p packing) string {
		return fmt.Sprintf("unpacked, %v bytes\n", quantity.Count(p.FileBytes))
	})
}

func packingOf(s umbel.State) packing { return packing{Kind: s.Kind, Unpacked: wire.Size(s)} }

// rewriteCommand completes a verb that writes the filter of a file to another file. It prints
// the result of rewrite, as text with words.
func rewriteCommand(cmd *cobra.Command, rewrite func(cmd *cobra.Command, from, to string) (packing, error), words func(packing) string) *cobra.Command {
	cmd.Args = cli.Arguments(1, 1)
	cmd.DisableFlagsInUseLine = true
	output := cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return cli.UsageError(cmd, cli.ErrNoOutput)
		}
		p, err := rewrite(cmd, args[0], *output)
		if err != nil || cli.IsQuiet(cmd) {
			return err
		}
		p.File = *output
		return cli.Report(cmd, *output, p, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %s", p.File, words(p))
			return err
		})
	}
	return cmd
}
