package filters

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

const diffHelp = `Write the delta from the filter in OLD (the base) to the one in NEW (the result), to send to
a receiver that has OLD. It contains the IDs of both filters, and umbel patch checks them. All kinds
have deltas, after any change: keys added and removed, folds, growth.

A delta of sparse filters, which are lists, saves little. --bloom writes the delta of the
equivalent Bloom filters instead, and umbel patch applies it to the sparse filter.

If OLD is a fold of NEW, a small fold can be sent first and the rest later; both, packed, are about a hundred bytes
larger than the packed filter. With --refine other filters are refused.

Don't confuse it with umbel merge --subtract, which subtracts the keys of one filter from another.`

const diffExample = `  umbel diff monday.umb tuesday.umb -o tuesday.delta
  umbel patch monday.umb tuesday.delta -o tuesday.umb
  umbel diff sparse1.umb sparse2.umb --bloom -o sparse.delta
  umbel diff small.umb words.umb --refine -o rest.delta`

// deltaSummary is the result of umbel diff.
type deltaSummary struct {
	File   string `json:"file"`
	Base   string `json:"base"`
	Result string `json:"result"`
	Kind   string `json:"kind"`
	Bytes  uint64 `json:"bytes"`
	Packed uint64 `json:"packedBytes"` // of the whole result, for comparison
}

// DiffCommand is umbel diff.
func DiffCommand() *cobra.Command {
	r := new(diffRun)
	cmd := &cobra.Command{
		Use:     "diff OLD NEW [--bloom] [--refine] -o DELTA",
		Short:   "write the delta between two filters",
		Long:    diffHelp,
		Example: diffExample,
		Args:    cli.Arguments(2, 2),

		DisableFlagsInUseLine: true,
	}
	cli.AddOutputFlag(cmd, &r.output, "`FILE` to write", cli.OutputFlag{})
	flags := cmd.Flags()
	flags.BoolVar(&r.bloom, "bloom", false, "for sparse filters, write the delta of the equivalent Bloom filters")
	flags.BoolVar(&r.refine, "refine", false, "refuse filters of which OLD is not a fold of NEW")
	return cli.Verb(cmd, r.run)
}

// isFold reports whether small is the fold of full by some factor.
func isFold(small, full umbel.State) bool {
	f, err := filter.All.Open(full)
	if err != nil {
		return false
	}
	r := uint64(1)
	folded := small.AllArrays()
	for i, a := range full.AllArrays() {
		if i < len(folded) && folded[i].Len > 0 {
			r = max(r, a.Len/folded[i].Len)
		}
	}
	folder, ok := f.(umbel.Folder)
	return ok && folder.Fold(r) == nil && f.State().Equal(small)
}

// diffRun is one run of umbel diff.
type diffRun struct {
	*cli.Streams
	output        string
	bloom, refine bool
}

func (r *diffRun) run(_ context.Context, streams *cli.Streams, names []string) error {
	r.Streams = streams
	if r.output == "" {
		return cli.UsageError(cli.ErrNoOutput)
	}
	states, err := r.read([2]string(names))
	if err != nil {
		return err
	}
	stop := r.Note(fmt.Sprintf("comparing %s and %s", names[0], names[1]))
	differ := container.Differ()
	differ.Base, differ.Result = hashtree.New(states[0], differ.Workers).ID(), hashtree.New(states[1], differ.Workers).ID()
	b, err := differ.Append(nil, states[0], states[1])
	stop()
	if err != nil {
		return fmt.Errorf("%s and %s: %w", names[0], names[1], err)
	}
	if r.refine && !isFold(states[0], states[1]) {
		return fmt.Errorf("%s is not a fold of %s; leave out --refine", names[0], names[1])
	}
	if err := container.WriteDelta(r.output, b, states[1].Hasher.Secret()); err != nil || r.Quiet {
		return err
	}
	stop = r.Note("packing " + names[1])
	whole, err := packed(states[1])
	stop()
	if err != nil {
		return err
	}
	d := deltaSummary{r.output, differ.Base.String(), differ.Result.String(), states[1].Kind, uint64(len(b)), whole.Packed}
	return r.Report(r.output, d, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: delta of %v bytes; %s packed takes %v bytes%s\n",
			d.File, quantity.Count(d.Bytes), names[1], quantity.Count(d.Packed), d.advice())
		return err
	})
}

// read reads the two filters.
func (r *diffRun) read(names [2]string) (states [2]umbel.State, err error) {
	for i, name := range names {
		s, err := readSource(r.ReadFilterWith, []string{name}, wire.Read)
		if err != nil {
			return states, err
		}
		states[i] = s.state
		if r.bloom {
			if states[i], err = bloomOf(name, states[i]); err != nil {
				return states, err
			}
		}
	}
	return states, nil
}

// advice returns what to send instead of a delta that is too large.
func (d deltaSummary) advice() string {
	switch {
	case d.Bytes < d.Packed:
		return ""
	case d.Kind == sparse.Name:
		return "; use --bloom"
	}
	return "; send that instead"
}

// bloomOf returns the Bloom filter that is equivalent to the sparse filter in a file.
func bloomOf(file string, s umbel.State) (umbel.State, error) {
	f, err := openSparse(file, s)
	if err != nil {
		return s, err
	}
	if err := container.Fits("the Bloom filter of "+file, f.Stats().Cells/8); err != nil {
		return s, err
	}
	return f.Bloom()
}
