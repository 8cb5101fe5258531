package sim

import "context"

// Change is how many links fail and come after headers are made.
type Change struct{ Fail, Add int }

// Stale runs the experiment once for each change, with the same trees and headers:
// the curve of what old headers cost. Progress counts the trees of all.
func (e Experiment) Stale(ctx context.Context, changes []Change, progress func(done, total int)) ([]Result, error) {
	results := make([]Result, 0, len(changes))
	for i, c := range changes {
		e.Fail, e.Add = c.Fail, c.Add
		var report func(done, total int)
		if progress != nil {
			report = func(done, _ int) { progress(i*e.Trees+done, len(changes)*e.Trees) }
		}
		r, err := e.Run(ctx, report)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}
