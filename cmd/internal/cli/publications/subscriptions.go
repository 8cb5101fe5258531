package publications

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
)

// subscriptionFlags are the flags of the publications that a command line names.
type subscriptionFlags struct {
	keys   []string
	sparse bool
	budget replica.Budget
}

func (f *subscriptionFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.keys, "public-key", nil, "public `KEY` of the publication, or a file that contains it; once for each source")
	flags.BoolVar(&f.sparse, "sparse", false, "keep a Bloom filter with k = 1 as a sparse filter")
	flags.VarP((*quantity.Rate)(&f.budget.FPR), "fpr", "p", "false-positive `RATE` that suffices")
	flags.Var((*quantity.Size)(&f.budget.StartBytes), "start-bytes", "`SIZE` of the first version to fetch at most; a larger one follows")
	flags.Var((*quantity.Size)(&f.budget.BytesPerSecond), "bytes-per-second", "`SIZE` to receive per second at most, on average after the first version")
	flags.Var((*quantity.Size)(&f.budget.Memory), "bytes", "`SIZE` of the filter's cells at most")
	for _, name := range []string{"fpr", "start-bytes", "bytes-per-second", "bytes"} {
		flags.Lookup(name).DefValue = ""
	}
	spec.Group(flags, "Limits of what is fetched", "fpr", "start-bytes", "bytes-per-second", "bytes", "sparse")
}

// list returns the publications of a command line.
func (f *subscriptionFlags) list(sources []string) (replica.List, error) {
	list, err := subscriptionsOf(sources, f.keys)
	for i := range list {
		list[i].Budget, list[i].Sparse = f.budget, f.sparse
	}
	return list, err
}

// subscriptionsOf returns the publications with these sources and keys.
func subscriptionsOf(sources, keys []string) (replica.List, error) {
	if len(sources) != len(keys) {
		return nil, fmt.Errorf("%d sources and %d public keys are given; give one --public-key for each source", len(sources), len(keys))
	}
	var list replica.List
	for i, arg := range sources {
		filter, source := replica.ParseSource(arg)
		list = append(list, replica.Spec{Filter: filter, Source: source, PublicKey: keys[i]})
	}
	return list, list.Check()
}

// openSources opens the sources of publications. The head of each is requested once per period, unless the source reports changes.
func openSources(node cli.Node, list replica.List, period time.Duration) ([]replica.Publication, error) {
	var all []replica.Publication
	for _, spec := range list {
		verifier, err := cli.ParsePublicKey(spec.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("subscription of %s: public-key: %w", spec.Title(), err)
		}
		source, err := node.Source(spec.Source, period)
		if err != nil {
			return nil, fmt.Errorf("subscription of %s: source: %w", spec.Title(), err)
		}
		all = append(all, replica.Publication{Spec: spec, Reader: source, Verifier: verifier})
	}
	return all, nil
}
