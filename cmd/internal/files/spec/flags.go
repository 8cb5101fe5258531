package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Flags are the flags of a spec. A command adds the groups that it needs, and calls Spec after the flags are
// parsed.
type Flags struct {
	Kind  string
	Keys  quantity.Count // 0: not given, likewise Rate and Bytes
	Rate  quantity.Rate
	Bytes quantity.Size

	hash, seed string
	params     []*param
	added      []*pflag.Flag
}

// param is the flag of a kind's parameter.
type param struct {
	doc   umbel.ParamDoc
	value umbel.Number
	tick  time.Duration // if the value was given as a duration
	flag  *pflag.Flag
}

func (p *param) Set(s string) (err error) {
	if d, isDuration := parseDuration(s); p.doc.Ticks && isDuration {
		p.tick = time.Second
		p.value = umbel.Uint(uint64((d + time.Second - 1) / time.Second))
		return nil
	}
	p.tick = 0
	if p.value, err = parseParam(p.doc, s); err != nil && p.doc.Ticks {
		return fmt.Errorf("%q: want a duration of at least 1s, such as 20s or 1h, or a number of ticks", s)
	}
	return err
}

// parseDuration parses a duration of at least one second. A number without unit is none.
func parseDuration(s string) (time.Duration, bool) {
	d, err := quantity.ParseDuration(s)
	return d, err == nil && d >= time.Second
}

func (p *param) String() string { return "" }

func (p *param) Type() string {
	if p.doc.Ticks {
		return "TIME"
	}
	return "NUMBER"
}

// FlagGroup is the annotation of a flag with the title under which help lists it. If short help lists only the names of the
// group, the annotation also has the title of all such groups together, unless it is the same.
const FlagGroup = "umbel_group"

// Group puts flags into a group with a title.
func Group(flags *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, FlagGroup, []string{title}) // the flag exists
	}
}

// AddGoal adds --fpr, --keys and --bytes.
func (f *Flags) AddGoal(flags *pflag.FlagSet) {
	for _, flag := range []*pflag.Flag{
		flags.VarPF(&f.Rate, "fpr", "p", "false-positive `RATE`"),
		flags.VarPF(&f.Keys, "keys", "n", "`NUMBER` of distinct keys"),
		flags.VarPF(&f.Bytes, "bytes", "", "`SIZE` of the filter's cells"),
	} {
		flag.DefValue = "" // zero is not a default to print
		f.added = append(f.added, flag)
	}
}

// AddKind adds --kind, --hash and --seed. The default is the first of the kinds.
func (f *Flags) AddKind(flags *pflag.FlagSet, kinds umbel.Kinds) {
	flags.StringVar(&f.Kind, "kind", kinds[0].Name, "`KIND` of filter (see umbel kinds)")
	flags.StringVar(&f.hash, "hash", "", "`HASH` of the keys (default xxh3; murmur64a for kind redisbloom)")
	flags.StringVar(&f.seed, "seed", "", "seed of the hash in `HEX`, padded with zero bytes")
	f.added = append(f.added, flags.Lookup("kind"), flags.Lookup("hash"), flags.Lookup("seed"))
}

// AddParams adds a flag for each parameter. Its help lists the kinds that have it.
func (f *Flags) AddParams(flags *pflag.FlagSet, kinds umbel.Kinds) {
	having := map[string][]string{}
	for _, v := range kinds {
		for _, doc := range v.Params {
			if having[doc.Name] == nil {
				f.params = append(f.params, &param{doc: doc})
			}
			having[doc.Name] = append(having[doc.Name], v.Name)
		}
	}
	for _, p := range f.params {
		usage := p.doc.Doc
		if p.doc.Ticks {
			usage += "; a duration such as 1h makes the filter follow the system's clock"
		}
		p.flag = flags.VarPF(p, p.doc.Name, "", usage)
		p.flag.Annotations = map[string][]string{FlagGroup: {"Of kind " + strings.Join(having[p.doc.Name], ", "), "Parameters of kinds, which umbel kinds lists"}}
		f.added = append(f.added, p.flag)
	}
}

// Given reports whether any of the flags is given.
func (f *Flags) Given() bool {
	return slices.ContainsFunc(f.added, func(flag *pflag.Flag) bool { return flag.Changed })
}

// Check returns an error wrapping umbel.ErrGoal if a flag is given as 0, which in a spec means that it is not
// given.
func (f *Flags) Check() error {
	zero := map[string]bool{"fpr": f.Rate == 0, "keys": f.Keys == 0, "bytes": f.Bytes == 0}
	for _, p := range f.params {
		zero[p.doc.Name] = p.value.Float() == 0
	}
	for _, flag := range f.added {
		if flag.Changed && zero[flag.Name] {
			return sentinel.Errorf(umbel.ErrGoal, "--%s is 0, want a number above 0; without the flag it is planned", flag.Name)
		}
	}
	return nil
}

// CheckKind returns an error wrapping umbel.ErrGoal if a flag of a parameter is given that Kind does not have, and other kinds do.
func (f *Flags) CheckKind(kinds umbel.Kinds) error {
	for _, p := range f.params {
		having := HavingParam(kinds, p.doc.Name)
		if p.flag.Changed && !slices.ContainsFunc(having, func(v umbel.Kind) bool { return v.Name == f.Kind }) {
			names := make([]string, len(having))
			for i, v := range having {
				names[i] = v.Name
			}
			return sentinel.Errorf(umbel.ErrGoal, "--%s is for kind %s, not for kind %s: give --kind %s", p.doc.Name, strings.Join(names, ", "), f.Kind, names[0])
		}
	}
	return nil
}

// HavingParam returns the kinds that have a parameter.
func HavingParam(kinds umbel.Kinds, name string) umbel.Kinds {
	return slices.DeleteFunc(slices.Clone(kinds), func(v umbel.Kind) bool {
		return !slices.ContainsFunc(v.Params, func(doc umbel.ParamDoc) bool { return doc.Name == name })
	})
}

// Spec returns the spec that the flags give.
func (f *Flags) Spec() Spec {
	s := Spec{Goal: umbel.Goal{Keys: uint64(f.Keys), FPRate: float64(f.Rate), Bytes: uint64(f.Bytes)}, Hash: f.hash, Seed: f.seed}
	for _, p := range f.params {
		if p.flag.Changed {
			s.Params = append(s.Params, umbel.Param{Name: p.doc.Name, Value: p.value})
			s.Tick = max(s.Tick, p.tick)
		}
	}
	return s
}
