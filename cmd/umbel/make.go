package main

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
)

const makeHelp = `Make a filter of the keys in the files, or on standard input.

Its size follows from two of --fpr, --keys and --bytes, or from parameters of its
kind such as --m and --k. Without --fpr the rate is 1%. Without --keys the keys of
regular files are counted first, repeated ones each time. Of a pipe the digests are
kept while they take at most an eighth of --memory; after that the keys go to a
filter of half of it, which is folded down to the rate at the end and then may be up
to twice as large as with --keys.

If more distinct keys come than the filter holds at its rate, nothing is written.

Hashes: xxh3, the default; siphash, for keys chosen by others, with a random seed
unless --seed is given; xxh64, with kind splitblock Parquet's filter; murmur64a and
md5, of other programs; caller, where keys are digests of 32 hexadecimal digits.`

const makeExample = `  umbel make -o words.umb < /usr/share/dict/words
  umbel make -o urls.umb --kind blocked --fpr 1/1000 urls-*.txt
  find . -print0 | umbel make -o files.umb -0
  umbel make -o small.umb --m 320000 --k 2 keys.txt`

func makeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "make -o FILE [KEYFILE...]",
		Short:   "make a filter of keys",
		Long:    makeHelp,
		Example: makeExample,
		Args:    arguments(0, -1),
	}
	flags := cmd.Flags()
	var goal goalFlags
	goal.add(cmd)
	output := flags.StringP("output", "o", "", "`FILE` to write")
	kind := flags.String("kind", filter.All[0].Kind, "`KIND` of filter, see umbel kinds")
	hash := flags.String("hash", "", "`HASH` of the keys (default xxh3)")
	seed := flags.String("seed", "", "seed of the hash, bytes in `HEX`, the rest zero")
	memory := quantity.Size(512 << 20)
	flags.Var(&memory, "memory", "`SIZE` to get by with where the number of keys isn't known")
	format := addFormatFlag(cmd)
	params := addParamFlags(flags, filter.All)
	completeKinds(cmd)
	_ = cmd.RegisterFlagCompletionFunc("hash", cobra.FixedCompletions(hashNames(), cobra.ShellCompDirectiveNoFileComp))

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, fmt.Errorf("name the file to write: -o FILE"))
		}
		v, err := filter.All.Find(*kind)
		if err != nil {
			return err
		}
		h, err := parseHasher(*hash, *seed, rand.Reader)
		if err != nil {
			return err
		}
		files, closeFiles, err := openKeys(cmd, args)
		if err != nil {
			return err
		}
		defer closeFiles()
		job, stop := newJob(cmd, h, format(), files)
		order := build.Order{
			Variants: filter.All, Variant: v, Goal: goal.goal(h), Params: params.given(flags),
			Keys: job, Memory: uint64(memory),
		}
		made, err := order.Make(files)
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

// goalFlags are --fpr, --keys and --bytes.
type goalFlags struct {
	rate  quantity.Rate
	keys  quantity.Count
	bytes quantity.Size
}

func (g *goalFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.VarP(&g.rate, "fpr", "p", "false-positive `RATE`")
	flags.VarP(&g.keys, "keys", "n", "`NUMBER` of distinct keys")
	flags.Var(&g.bytes, "bytes", "`SIZE` of the filter's cells")
	// Zero means not given, and is no default to print.
	for _, name := range []string{"fpr", "keys", "bytes"} {
		flags.Lookup(name).DefValue = ""
	}
}

func (g *goalFlags) goal(h umbel.Hasher) umbel.Goal {
	return umbel.Goal{Keys: uint64(g.keys), FPRate: float64(g.rate), Bytes: uint64(g.bytes), Hasher: h}
}

// hashNames returns the names that --hash takes.
func hashNames() []string {
	var names []string
	for a := umbel.Alg(0); !strings.HasPrefix(a.String(), "alg("); a++ {
		names = append(names, a.String())
	}
	return names
}

// completeKinds completes --kind.
func completeKinds(cmd *cobra.Command) {
	var kinds []string
	for _, v := range filter.All {
		kinds = append(kinds, v.Kind+"\t"+v.Doc)
	}
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
}
