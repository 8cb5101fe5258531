package scheme

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Umbel encodes a tree as the shortest filter that contains its arcs and none of those
// next to it: package inpacket. While the network is as the planner knows it, no packet
// is sent off the tree.
type Umbel struct {
	// Forms are the forms to search; default those of inpacket.Search; with Slack, without
	// Staged; with Repair only Single, because nothing can be added to the others.
	Forms []inpacket.Form
	// Seeds is the number of seeds to try, 1 to 65536: the effort. 0 is the default of
	// inpacket.Search.
	Seeds int
	// MaxFalseMatch limits the probability that a link unknown to the planner matches.
	// Headers are then longer, and stay correct for longer while the network changes. 0:
	// no limit, or RepairFalseMatch with Repair; DropFalseMatch is a limit too.
	MaxFalseMatch float64
	// Slack is added to the TTL, which is otherwise the tree's depth. Detours around
	// links that are down need it. With slack the deepest nodes test their links too, and
	// Staged filters, which are queried by TTL, can't be used.
	Slack int
	Routers
}

// RepairFalseMatch limits the false-match rate of headers to which routers may add
// detours, unless Umbel.MaxFalseMatch does. Detours are links that nobody planned for,
// and routers that nobody planned for query the fuller filter. On a grid of 6 x 6 and a
// random graph of 50 nodes, with 1 to 6 receivers, one link of the tree down and a slack
// of 12 hops, the shortest filters, of 24 bits, made 70 and 350 times as many copies as
// the tree has links. With the limit 0.01 they made 1.1 and 1.3 times as many, with 65
// bits.
const RepairFalseMatch = 0.01

// Name returns "umbel".
func (Umbel) Name() string { return "umbel" }

// Domain returns the domain of umbel; see [Scheme]. It returns an error wrapping umbel.ErrGoal if the forms
// don't support slack or repair.
func (u Umbel) Domain(known, present *multicast.Network) (Domain, error) {
	if u.Slack < 0 || u.Slack > 254 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "slack %d, want 0 to 254", u.Slack)
	}
	switch {
	case len(u.Forms) == 0 && u.Repair:
		u.Forms = []inpacket.Form{inpacket.Single}
	case len(u.Forms) == 0 && u.Slack > 0:
		u.Forms = []inpacket.Form{inpacket.Single, inpacket.Linear, inpacket.Deep, inpacket.Complement}
	}
	if u.Repair && u.MaxFalseMatch == 0 {
		u.MaxFalseMatch = RepairFalseMatch
	}
	if u.DropFalseMatch > 0 && (u.MaxFalseMatch == 0 || u.MaxFalseMatch > u.DropFalseMatch) {
		u.MaxFalseMatch = u.DropFalseMatch
	}
	if u.Slack > 0 && slices.Contains(u.Forms, inpacket.Staged) {
		return nil, sentinel.Errorf(umbel.ErrGoal,
			"staged filters don't support slack %d, because each stage is for one TTL; remove the form or the slack", u.Slack)
	}
	if u.Repair && slices.ContainsFunc(u.Forms, func(f inpacket.Form) bool { return f != inpacket.Single && f != inpacket.Folded }) {
		return nil, sentinel.Errorf(umbel.ErrGoal, "repair supports the forms single and folded, not %s", formNames(u.Forms))
	}
	f, err := newFilters(known, present, u.Routers, false, nil)
	if err != nil {
		return nil, err
	}
	return &umbelDomain{f, u}, nil
}

type umbelDomain struct {
	*filters
	umbel Umbel
}

// Plan implements Domain.
func (d *umbelDomain) Plan(t *tree.Tree, group uint32) (Plan, error) {
	ttl := t.Depth() + d.umbel.Slack
	if err := d.check(t, ttl); err != nil {
		return Plan{}, err
	}
	start := time.Now()
	task := d.known.Task(t)
	if d.umbel.Slack > 0 {
		task = d.known.SlackTask(t)
	}
	found, err := inpacket.Search(task, inpacket.Options{Forms: d.umbel.Forms, Seeds: d.umbel.Seeds, MaxFalseMatch: d.umbel.MaxFalseMatch})
	if err != nil {
		return Plan{}, err
	}
	h := inpacket.Header{TTL: uint8(ttl), Form: found.Form, K: found.K, Seed: found.Seed, Bits: found.Bits, Filter: found.Filter}
	headers, err := d.finish(h, group)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Headers: headers, Bits: found.Cost(), Form: FormName(found.Form), Search: time.Since(start),
		FalseMatch: found.FalseMatch, Trials: found.Trials}, nil
}

var forms = [...]string{
	inpacket.Single: "single", inpacket.Staged: "staged", inpacket.Folded: "folded",
	inpacket.Linear: "linear", inpacket.Dense: "dense", inpacket.Deep: "deep", inpacket.Complement: "complement",
}

// FormNames returns the names of the forms that [ParseForms] accepts: all but dense.
func FormNames() []string {
	return slices.DeleteFunc(slices.Clone(forms[:]), func(name string) bool { return name == "" || name == forms[inpacket.Dense] })
}

// FormName returns the name of a form, as in Plan.Form, for example single, or its number if
// it has no name.
func FormName(f inpacket.Form) string {
	if int(f) < len(forms) && forms[f] != "" {
		return forms[f]
	}
	return fmt.Sprintf("form %d", f)
}

// ParseForms returns the forms in a comma-separated list of names, for Umbel.Forms. It
// does not accept dense.
func ParseForms(list string) ([]inpacket.Form, error) {
	var fs []inpacket.Form
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(FormNames(), name) {
			return nil, sentinel.Errorf(umbel.ErrGoal, "form %q, want one of %s", name, strings.Join(FormNames(), ", "))
		}
		fs = append(fs, inpacket.Form(slices.Index(forms[:], name)))
	}
	return fs, nil
}

func formNames(fs []inpacket.Form) string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = FormName(f)
	}
	return strings.Join(names, ", ")
}
