package main

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/build"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// spec is the flags that describe a new filter.
type spec struct {
	goal             goalFlags
	kind, hash, seed string
	params           params
	flags            *pflag.FlagSet
	names            []string // of all these flags
}

func (w *spec) add(cmd *cobra.Command) {
	w.flags = cmd.Flags()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	w.goal.addTo(own)
	own.StringVar(&w.kind, "kind", filter.All[0].Name, "`KIND` of filter (see umbel kinds)")
	own.StringVar(&w.hash, "hash", "", "`HASH` of the keys (default xxh3; murmur64a for kind redisbloom)")
	own.StringVar(&w.seed, "seed", "", "seed of the hash in `HEX`, padded with zero bytes")
	w.params = addParamFlags(own, filter.All)
	own.VisitAll(func(f *pflag.Flag) { w.names = append(w.names, f.Name) })
	w.flags.AddFlagSet(own)
	completeKinds(cmd)
	_ = cmd.RegisterFlagCompletionFunc("hash", cobra.FixedCompletions(hashNames(), cobra.ShellCompDirectiveNoFileComp))
}

// given reports whether any of the flags is given.
func (w *spec) given() bool {
	for _, name := range w.names {
		if w.flags.Changed(name) {
			return true
		}
	}
	return false
}

// resolve returns the kind, goal and parameters.
func (w *spec) resolve() (umbel.Kind, umbel.Goal, umbel.Params, error) {
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
		if name == "rate" { // the term of the papers
			name = "fpr"
		}
		return pflag.NormalizedName(name)
	})
	// Zero means not given; it isn't a default to print.
	for _, name := range []string{"fpr", "keys", "bytes"} {
		flags.Lookup(name).DefValue = ""
	}
}

// completed returns the goal, with the default rate if it needs one.
func completed(v umbel.Kind, g umbel.Goal, ps umbel.Params) umbel.Goal {
	if g.Keys == 0 || g.FPRate != 0 || g.Bytes != 0 {
		return g
	}
	if _, err := v.Plan(g, ps); err == nil {
		return g // the parameters suffice
	}
	g.FPRate = build.DefaultRate
	return g
}

func (g *goalFlags) goal(h umbel.Hasher) umbel.Goal {
	return umbel.Goal{Keys: uint64(g.keys), FPRate: float64(g.rate), Bytes: uint64(g.bytes), Hasher: h}
}

// hashNames returns the values of --hash.
func hashNames() []string {
	var names []string
	for a := umbel.Alg(0); !strings.HasPrefix(a.String(), "alg("); a++ {
		names = append(names, a.String())
	}
	return names
}

// completeKinds adds the completion of --kind.
func completeKinds(cmd *cobra.Command) {
	var kinds []string
	for _, v := range filter.All {
		kinds = append(kinds, v.Name+"\t"+v.Doc)
	}
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
}

// param is the flag of a kind's parameter.
type param struct {
	doc   umbel.ParamDoc
	value umbel.Number
}

// Set parses a count, or any number for a parameter that may have a fraction.
func (p *param) Set(s string) error {
	if p.doc.Float {
		f, err := strconv.ParseFloat(s, 64)
		p.value = umbel.Float(f)
		return err
	}
	n, err := quantity.ParseCount(s)
	p.value = umbel.Uint(uint64(n))
	return err
}

func (p *param) String() string { return "" }
func (p *param) Type() string   { return "NUMBER" }

// params contains the parameters of all kinds, each once.
type params []*param

// addParamFlags adds a flag for each parameter. Its help lists the kinds that have it.
func addParamFlags(flags *pflag.FlagSet, kinds umbel.Kinds) params {
	var ps params
	takers := map[string][]string{}
	for _, v := range kinds {
		for _, doc := range v.Params {
			if takers[doc.Name] == nil {
				ps = append(ps, &param{doc: doc})
			}
			takers[doc.Name] = append(takers[doc.Name], v.Name)
		}
	}
	for _, p := range ps {
		flags.Var(p, p.doc.Name, p.doc.Doc+"; kind "+strings.Join(takers[p.doc.Name], ", "))
	}
	return ps
}

// given returns the parameters whose flags are given.
func (ps params) given(flags *pflag.FlagSet) umbel.Params {
	var out umbel.Params
	for _, p := range ps {
		if flags.Changed(p.doc.Name) {
			out = append(out, umbel.Param{Name: p.doc.Name, Value: p.value})
		}
	}
	return out
}
