package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/weighted"
)

const makeHelp = `Make a filter of the keys in the files, or on standard input.

Its size follows from two of --fpr, --keys and --bytes, or from parameters of its
kind such as --m and --k. Without --fpr the rate is 1%. Without --keys the keys of
regular files are counted first, repeated ones each time. Of a pipe the digests are
kept while they take at most an eighth of --memory; after that the keys go to a
filter of half of it, which is folded down to the rate at the end and then may be up
to twice as large as with --keys. A filter that grows and keeps its rate does so.

With --weights the filter is of kind weighted: LOG has the keys that were asked for,
as often as they were, and those which are asked for most, and aren't there, get more
cells. The rate is then that of questions like these; see docs/kinds/weighted.md.

If more distinct keys come than the filter holds at its rate, nothing is written; one
that grows takes them, up to its own limit.

Hashes: xxh3, the default; siphash, for keys chosen by others, with a random seed
unless --seed is given; xxh64, with kind splitblock Parquet's filter; murmur64a, the
default of kind redisbloom; md5, of other programs; caller, where keys are digests of
32 hexadecimal digits.

With --addr the filter is made on a node, under the name that -o says, with the node's hash
unless --hash is given. Keys are added as they are read; if that fails the filter is deleted.
Of a pipe a node wants to know the number of keys beforehand, or a size; /dev/null has none,
and makes an empty filter.`

const makeExample = `  umbel make -o words.umb < /usr/share/dict/words
  umbel make -o urls.umb --kind blocked --fpr 1/1000 urls-*.txt
  find . -print0 | umbel make -o files.umb -0
  umbel make -o small.umb --m 320000 --k 2 keys.txt
  umbel make -o urls.umb --weights asked.log urls.txt
  umbel make -o users --keys 1e6 --addr 127.0.0.1:8780 users.txt`

func makeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "make -o FILE [KEYFILE...]",
		Short:   "make a filter of keys",
		Long:    makeHelp,
		Example: makeExample,
		Args:    arguments(0, -1),
	}
	flags := cmd.Flags()
	var wanted wish
	wanted.add(cmd)
	output := flags.StringP("output", "o", "", "`FILE` to write")
	weights := flags.String("weights", "", "`LOG` of keys asked for, to make a weighted filter")
	memory := quantity.Size(512 << 20)
	flags.Var(&memory, "memory", "`SIZE` to get by with where the number of keys isn't known")
	format := addFormatFlag(cmd)
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, fmt.Errorf("name the file to write: -o FILE"))
		}
		if *weights != "" && !flags.Changed("kind") {
			wanted.kind = weighted.Name
		}
		if *weights != "" && wanted.kind != weighted.Name {
			return usageError(cmd, fmt.Errorf("--weights makes a filter of kind %s, not %s", weighted.Name, wanted.kind))
		}
		v, goal, params, err := wanted.resolve()
		if err != nil {
			return err
		}
		files, closeFiles, err := openKeys(cmd, args)
		if err != nil {
			return err
		}
		defer closeFiles()
		p, err := placeOf(cmd)
		if err != nil {
			return err
		}
		order := build.Order{Kinds: filter.All, Kind: v, Goal: goal, Params: params, Memory: uint64(memory)}
		if p.node != nil {
			if *weights != "" {
				return usageError(cmd, errors.New("a node learns no weights: make a file, and umbel put it there"))
			}
			return p.make(*output, order, wanted.hash, wanted.seed, format(), files)
		}
		job, stop := newJob(cmd, goal.Hasher, format(), files)
		order.Keys = job
		made, err := makeFilter(order, files, *weights)
		stop()
		if err != nil {
			return err
		}
		if err := container.Write(*output, made.Filter.State()); err != nil {
			return err
		}
		s := summarize(*output, made.Filter)
		s.Read = &made.Read
		done := quantity.Count(made.Read).String() + " keys read"
		if made.Fold > 1 {
			s.Fold = made.Fold
			done += fmt.Sprintf(", folded by %d", made.Fold)
		}
		return s.print(cmd, done)
	}
	return cmd
}

// makeFilter makes the filter of an order, with a log of questions if one is named.
func makeFilter(o build.Order, files []*os.File, log string) (build.Result, error) {
	if log == "" {
		return o.Make(files)
	}
	f, err := os.Open(log)
	if err != nil {
		return build.Result{}, err
	}
	defer f.Close()
	return o.Learn(files, f)
}
