package verdict

import "github.com/umbel-filters/umbel/research/cachetests/internal/suite"

// Count is the number of results of the tests of one kind.
type Count struct {
	Kind  suite.Kind `json:"kind"`
	Tests int        `json:"tests"`
	// Raw is the number of tests that passed.
	Raw int `json:"raw"`
	// Every test has one of these four results. Displayed is a pass whose dependencies all passed in the
	// same sense. This is how the suite's web page shows results: if a cache doesn't store anything, it
	// passes every test that it must not use a stored response, but that means nothing.
	Displayed     int `json:"displayed"`
	Failed        int `json:"failed"`
	SetupFailed   int `json:"setup_failed"`
	NotApplicable int `json:"not_applicable"`
	// CDN is the number of tests about CDN-Cache-Control, included in Tests; CDNRaw is how many of them passed.
	CDN    int `json:"cdn"`
	CDNRaw int `json:"cdn_raw"`
}

// Counts returns a count for each kind, of the tests that have a verdict.
func Counts(tests []*suite.Test, verdicts Verdicts) []Count {
	byID := map[string]*suite.Test{}
	for _, t := range tests {
		byID[t.ID] = t
	}
	var counts []Count
	for _, kind := range suite.Kinds {
		c := Count{Kind: kind}
		for _, t := range tests {
			if v, ok := verdicts[t.ID]; ok && t.Kind == kind {
				c.add(t, v, applies(t, byID, verdicts, map[string]bool{}))
			}
		}
		counts = append(counts, c)
	}
	return counts
}

func (c *Count) add(t *suite.Test, v Verdict, applies bool) {
	c.Tests++
	if v.Pass() {
		c.Raw++
	}
	if t.CDNOnly {
		c.CDN++
		if v.Pass() {
			c.CDNRaw++
		}
	}
	switch {
	case !applies:
		c.NotApplicable++
	case v.Pass():
		c.Displayed++
	case v.Kind == Setup:
		c.SetupFailed++
	default:
		c.Failed++
	}
}

// applies reports whether all tests on which t depends passed, and theirs. A test in a cycle doesn't apply.
func applies(t *suite.Test, byID map[string]*suite.Test, verdicts Verdicts, above map[string]bool) bool {
	if above[t.ID] {
		return false
	}
	above[t.ID] = true
	defer delete(above, t.ID)
	for _, id := range t.DependsOn {
		v, ok := verdicts[id]
		if !ok || !v.Pass() || byID[id] == nil || !applies(byID[id], byID, verdicts, above) {
			return false
		}
	}
	return true
}
