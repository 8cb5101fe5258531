package share

import (
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/delta"
)

// revision is what changed from a version to a later one.
type revision struct {
	from, to uint64
	before   umbel.State // without arrays: its parameters are those of version from
	changes  delta.Changes
}

// wordLists returns the words of an array that may have changed, in ascending order: see PublishChanged.
type wordLists func(array int) iter.Seq[uint64]

// changesOf returns the changes that adjacent revisions have together.
func changesOf(list []revision) delta.Changes {
	all := make([]delta.Changes, len(list))
	for i, r := range list {
		all[i] = r.changes
	}
	return delta.Merge(all...)
}

// withParams returns s with the parameters of another state, and with its notes.
func withParams(s, params umbel.State) umbel.State {
	s.Params = slices.Clone(params.Params)
	s.Notes = params.Notes
	parts := s.Parts
	s.Parts = make([]umbel.State, len(parts))
	for i, p := range parts {
		s.Parts[i] = withParams(p, params.Parts[i])
	}
	return s
}
