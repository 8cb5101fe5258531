package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

const patchHelp = `Apply DELTA to the filter in OLD, and write the result; see umbel diff and umbel refine. A delta
with another base, a damaged one, and one that was already applied are rejected, and nothing is
written. With --if-needed a delta that was already applied is no error: OLD is its result, and is
copied to FILE, or stays.

A delta of Bloom filters with k = 1 can be applied to a sparse filter, which stays sparse. This
temporarily needs the memory of the Bloom filter.`

const patchExample = `  umbel patch monday.umb tuesday.delta -o tuesday.umb
  umbel patch words.umb today.delta --in-place`

func patchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "patch OLD DELTA (-o FILE | --in-place)",
		Short:   "apply a delta to a filter",
		Long:    patchHelp,
		Example: patchExample,
		Args:    arguments(2, 2),

		DisableFlagsInUseLine: true,
	}
	output := addOutputFlag(cmd, "`FILE` to write", outputFlag{})
	addStrictFlag(cmd)
	inPlace := cmd.Flags().Bool("in-place", false, "replace OLD")
	exclusive(cmd, "output", "in-place")
	ifNeeded := cmd.Flags().Bool("if-needed", false, "accept a delta that was already applied")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := *output
		if *inPlace {
			target = args[0]
		}
		if target == "" {
			return usageError(cmd, errors.New("give the file to write: -o FILE or --in-place"))
		}
		lock, err := lockFile(cmd, target)
		if err != nil {
			return err
		}
		defer lock.Close()
		old, err := readFilter(cmd, args[0])
		if err != nil {
			return err
		}
		delta, info, err := container.ReadDelta(args[1])
		if err != nil {
			return err
		}
		list := old.Kind == sparse.Name && info.Kind == bloom.Name
		if list {
			if old, err = bloomOf(args[0], old); err != nil {
				return err
			}
		}
		s, applied := old, *ifNeeded && wire.Identify(old) == info.Result
		if !applied {
			stop := note(cmd, "applying "+args[1])
			s, err = container.Patch(old, args[1], delta, info)
			stop()
			if err != nil {
				return err
			}
		}
		f, err := open(s, list)
		if err != nil {
			return err
		}
		if applied && *inPlace {
			return summarize(target, f).print(cmd, "unchanged, since the delta was already applied")
		}
		sum, err := settle(cmd, target, f)
		if err != nil {
			return err
		}
		s = f.State()
		if _, err := writerOf(s.Hasher)(cmd, target, int64(wire.Size(s)), func(w io.Writer) error { return wire.Write(w, s) }); err != nil {
			return err
		}
		return sum.print(cmd, "patched")
	}
	return cmd
}

// open returns the filter with state s, as a sparse filter if list is true.
func open(s umbel.State, list bool) (umbel.Filter, error) {
	if list {
		return sparse.FromBloom(s)
	}
	return filter.All.Open(s)
}
