package filters

import (
	"cmp"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/filter"
)

// addSpecFlags adds the flags that specify a new filter.
func addSpecFlags(cmd *cobra.Command) *spec.Flags {
	f := new(spec.Flags)
	f.AddGoal(cmd.Flags())
	f.AddKind(cmd.Flags(), filter.All)
	f.AddParams(cmd.Flags(), filter.All)
	completeKinds(cmd)
	_ = cmd.RegisterFlagCompletionFunc("hash", cobra.FixedCompletions(hashNames(), cobra.ShellCompDirectiveNoFileComp))
	return f
}

// resolve returns the kind that flags specify, and the goal and parameters, which may be incomplete.
func resolve(f *spec.Flags) (umbel.Kind, umbel.Goal, umbel.Params, error) {
	v, err := findKind(f.Kind)
	if err == nil {
		err = cmp.Or(f.Check(), f.CheckKind(filter.All))
	}
	if err != nil {
		return v, umbel.Goal{}, nil, err
	}
	s := f.Spec()
	goal, err := s.Resolve(v, umbel.Hasher{})
	return v, goal, s.Params, err
}

// hashNames returns the values of --hash.
func hashNames() []string {
	var names []string
	for n := range math.MaxUint8 {
		if a := umbel.Alg(n); (umbel.Hasher{Alg: a}).Check() == nil {
			names = append(names, a.String())
		}
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
