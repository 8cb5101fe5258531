package filters

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

const patchHelp = `Apply DELTA to the filter in OLD, and write the result; see umbel diff. Several
deltas are applied in their order. A delta with another base, a damaged one, and one that was already
applied are rejected, and nothing is written. With --if-needed deltas that were already applied are no
error: OLD is the result of the last of them, and the others are applied. If none is left, OLD is
copied to FILE, or stays. If OLD is packed (umbel pack), so is the result: compare the IDs of filters
(umbel info), not the bytes of files.

A delta of Bloom filters with k = 1 can be applied to a sparse filter, which stays sparse. This
temporarily needs the memory of the Bloom filter.`

const patchExample = `  umbel patch monday.umb tuesday.delta -o tuesday.umb
  umbel patch words.umb today.delta --in-place
  umbel patch words.umb 1.delta 2.delta 3.delta --in-place --if-needed`

// patchRun is one run of umbel patch.
type patchRun struct {
	*cli.Streams
	output            string
	inPlace, ifNeeded bool
	Tolerance
}

// PatchCommand is umbel patch.
func PatchCommand() *cobra.Command {
	r := new(patchRun)
	cmd := &cobra.Command{
		Use:     "patch OLD DELTA... (-o FILE | --in-place)",
		Short:   "apply a delta to a filter",
		Long:    patchHelp,
		Example: patchExample,
		Args:    cli.Arguments(2, -1),

		DisableFlagsInUseLine: true,
	}
	cli.AddOutputFlag(cmd, &r.output, "`FILE` to write", cli.OutputFlag{})
	AddStrictFlag(cmd, &r.Tolerance)
	cmd.Flags().BoolVar(&r.inPlace, "in-place", false, "replace the filter in OLD")
	cli.Exclusive(cmd, "output", "in-place")
	cmd.Flags().BoolVar(&r.ifNeeded, "if-needed", false, "accept a delta that was already applied")
	return cli.Verb(cmd, r.run)
}

func (r *patchRun) run(_ context.Context, streams *cli.Streams, args []string) error {
	r.Streams = streams
	name, names := args[0], args[1:]
	isStdin := func(name string) bool { return name == "-" }
	if i := slices.IndexFunc(names, isStdin); i >= 0 && (isStdin(name) || slices.ContainsFunc(names[i+1:], isStdin)) {
		return cli.UsageError(errors.New("only one of OLD and the deltas can be standard input"))
	}
	target := r.output
	if r.inPlace {
		target = name
	}
	if target == "" {
		return cli.UsageError(errors.New("give the file to write: -o FILE or --in-place"))
	}
	lock, err := r.LockFile(target)
	if err != nil {
		return err
	}
	defer lock.Close()
	old, size, err := r.ReadFilterWith(name, wire.Read)
	if err != nil {
		return err
	}
	form := container.FormOf(old, size)
	deltas, err := readDeltas(names)
	if err != nil {
		return err
	}
	f, applied, err := r.apply(name, old, deltas)
	if err != nil {
		return err
	}
	if applied == 0 && r.inPlace {
		return Summarize(target, f).Print(streams, "unchanged, since the delta was already applied")
	}
	s := f.State()
	sum, err := r.settle(streams, target, f, func() error {
		_, err := r.WriterOf(s.Hasher)(target, int64(wire.Size(s)), func(w io.Writer) error { return form.Write(w, s) })
		return err
	})
	if err != nil {
		return err
	}
	return sum.Print(streams, "patched")
}

// apply applies the deltas that are needed to the filter of a file, and returns their number. A sparse filter takes deltas of
// the Bloom filter that is equivalent to it.
func (r *patchRun) apply(name string, old umbel.State, deltas deltaFiles) (f umbel.Filter, applied int, err error) {
	list := old.Kind == sparse.Name && deltas[0].info.Kind == bloom.Name
	if list {
		if old, err = bloomOf(name, old); err != nil {
			return nil, 0, err
		}
	}
	if r.ifNeeded {
		deltas = deltas.after(hashtree.Identify(old))
	}
	s, err := deltas.apply(r.Streams, old)
	if err != nil {
		return nil, 0, err
	}
	f, err = open(s, list)
	return f, len(deltas), err
}

// deltaFile is a delta that was read from a file.
type deltaFile struct {
	name    string
	message []byte
	info    delta.Info
}

// deltaFiles are deltas. The base of each is the result of the one before.
type deltaFiles []deltaFile

func readDeltas(names []string) (deltaFiles, error) {
	var all deltaFiles
	for _, name := range names {
		message, info, err := container.ReadDelta(name)
		if err != nil {
			return nil, err
		}
		all = append(all, deltaFile{name, message, info})
	}
	return all, nil
}

// after returns the deltas after the last one with that result, and all if none has it.
func (ds deltaFiles) after(id wire.ID) deltaFiles {
	for i, d := range slices.Backward(ds) {
		if d.info.Result.Begins(id) && !d.info.Base.Begins(id) { // otherwise only notes differ
			return ds[i+1:]
		}
	}
	return ds
}

// apply applies the deltas to s in their order.
func (ds deltaFiles) apply(streams *cli.Streams, s umbel.State) (umbel.State, error) {
	for _, d := range ds {
		stop := streams.Note("applying " + d.name)
		var err error
		s, err = container.Patch(s, d.name, d.message, d.info)
		stop()
		if err != nil {
			return umbel.State{}, err
		}
	}
	return s, nil
}

// open returns the filter with state s, as a sparse filter if list is true.
func open(s umbel.State, list bool) (umbel.Filter, error) {
	if list {
		return sparse.FromBloom(s)
	}
	return filter.All.Open(s)
}
