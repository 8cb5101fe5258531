package main

import (
	"crypto/rand"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// wish is what the flags of a verb say of a filter that is to be made.
type wish struct {
	goal             goalFlags
	kind, hash, seed string
	params           params
	flags            *pflag.FlagSet
	names            []string // of all these flags
}

func (w *wish) add(cmd *cobra.Command) {
	w.flags = cmd.Flags()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	w.goal.addTo(own)
	own.StringVar(&w.kind, "kind", filter.All[0].Name, "`KIND` of filter, see umbel kinds")
	own.StringVar(&w.hash, "hash", "", "`HASH` of the keys (default xxh3; of redisbloom murmur64a)")
	own.StringVar(&w.seed, "seed", "", "seed of the hash, bytes in `HEX`, the rest zero")
	w.params = addParamFlags(own, filter.All)
	own.VisitAll(func(f *pflag.Flag) { w.names = append(w.names, f.Name) })
	w.flags.AddFlagSet(own)
	completeKinds(cmd)
	_ = cmd.RegisterFlagCompletionFunc("hash", cobra.FixedCompletions(hashNames(), cobra.ShellCompDirectiveNoFileComp))
}

// given reports whether any of the flags was.
func (w *wish) given() bool {
	for _, name := range w.names {
		if w.flags.Changed(name) {
			return true
		}
	}
	return false
}

// resolve returns what the flags mean.
func (w *wish) resolve() (umbel.Kind, umbel.Goal, umbel.Params, error) {
	v, err := filter.All.Find(w.kind)
	if err != nil {
		return v, umbel.Goal{}, nil, err
	}
	hash := w.hash
	if hash == "" && v.Name == redisbloom.Name {
		hash = redisbloom.RedisHasher.Alg.String()
	}
	h, err := parseHasher(hash, w.seed, rand.Reader)
	return v, w.goal.goal(h), w.params.given(w.flags), err
}

// goalFlags are --fpr, --keys and --bytes.
type goalFlags struct {
	rate  quantity.Rate
	keys  quantity.Count
	bytes quantity.Size
}

func (g *goalFlags) add(cmd *cobra.Command) { g.addTo(cmd.Flags()) }

func (g *goalFlags) addTo(flags *pflag.FlagSet) {
	flags.VarP(&g.rate, "fpr", "p", "false-positive `RATE`")
	flags.VarP(&g.keys, "keys", "n", "`NUMBER` of distinct keys")
	flags.Var(&g.bytes, "bytes", "`SIZE` of the filter's cells")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "rate" { // as the papers have it
			name = "fpr"
		}
		return pflag.NormalizedName(name)
	})
	// Zero means not given, and is no default to print.
	for _, name := range []string{"fpr", "keys", "bytes"} {
		flags.Lookup(name).DefValue = ""
	}
}

// completed returns the goal with the default rate, if with it the goal is complete.
func completed(v umbel.Kind, g umbel.Goal, ps umbel.Params) umbel.Goal {
	if g.Keys == 0 || g.FPRate != 0 || g.Bytes != 0 {
		return g
	}
	if _, err := v.Plan(g, ps); err == nil {
		return g // the parameters say all
	}
	g.FPRate = build.DefaultRate
	return g
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
		kinds = append(kinds, v.Name+"\t"+v.Doc)
	}
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
}
