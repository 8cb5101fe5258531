package scheme

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Umbel writes a tree as the shortest filter that holds its arcs and none of those
// next to it: package inpacket. As long as the network is as it was known, no packet
// goes where it shouldn't.
type Umbel struct {
	// Forms to search among; nil: Single, Staged and Linear, with Slack Single and
	// Linear, and with Repair Single alone, for nothing can be added to the others.
	Forms []inpacket.Form
	// Seeds is how many to try, 1 to 65536: the effort; 0: as many as inpacket.Search
	// takes by itself.
	Seeds int
	// MaxStray bounds the chance that a link which nobody planned for matches: headers
	// are longer, and stay right for longer while the network changes. 0: no bound, but
	// with Repair RepairStray; DropStray bounds it too.
	MaxStray float64
	// Slack is added to the TTL, which else is the tree's depth: ways around links that
	// are down need it. With it the deepest nodes test their links too, and Staged filters,
	// which are asked by TTL, can't be used.
	Slack int
	Routers
}

// RepairStray bounds the stray chance of headers to which routers may add ways around
// links, unless Umbel.MaxStray does: what they add is links that nobody planned for,
// and the fuller filter is asked by routers that it wasn't planned for. On a grid of
// 6 x 6 and a random graph of 50 nodes, with 1 to 6 receivers, a link of the tree down
// and 12 hops to spare, the shortest filters, 24 bits, made 70 and 350 times as many
// copies as the tree has links. With the bound 0.01 it was 1.1 and 1.3 times as many,
// and 65 bits.
const RepairStray = 0.01

// Name returns "umbel".
func (Umbel) Name() string { return "umbel" }

// Domain sets umbel up; see [Scheme]. It is an error if the forms don't go with slack
// or repair.
func (u Umbel) Domain(known, present *multicast.Network) (Domain, error) {
	if u.Slack < 0 || u.Slack > 254 {
		return nil, fmt.Errorf("scheme: a slack of %d, want 0 to 254", u.Slack)
	}
	switch {
	case len(u.Forms) == 0 && u.Repair:
		u.Forms = []inpacket.Form{inpacket.Single}
	case len(u.Forms) == 0 && u.Slack > 0:
		u.Forms = []inpacket.Form{inpacket.Single, inpacket.Linear}
	}
	if u.Repair && u.MaxStray == 0 {
		u.MaxStray = RepairStray
	}
	if u.DropStray > 0 && (u.MaxStray == 0 || u.MaxStray > u.DropStray) {
		u.MaxStray = u.DropStray
	}
	if u.Slack > 0 && slices.Contains(u.Forms, inpacket.Staged) {
		return nil, fmt.Errorf("scheme: staged filters with a slack of %d: each stage is for one TTL, leave out the form or the slack", u.Slack)
	}
	if u.Repair && (slices.Contains(u.Forms, inpacket.Staged) || slices.Contains(u.Forms, inpacket.Linear)) {
		return nil, fmt.Errorf("scheme: repair with the forms %s: ways around links can be added to single and folded filters only", formNames(u.Forms))
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

// Plan is the method of Domain.
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
	found, err := inpacket.Search(task, inpacket.Options{Forms: d.umbel.Forms, Seeds: d.umbel.Seeds, MaxStray: d.umbel.MaxStray})
	if err != nil {
		return Plan{}, err
	}
	h := inpacket.Header{TTL: uint8(ttl), Form: found.Form, K: found.K, Seed: found.Seed, Bits: found.Bits, Filter: found.Filter}
	headers, err := d.finish(h, group)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Headers: headers, Bits: found.Cost(), Form: FormName(found.Form), Search: time.Since(start),
		Stray: found.Stray, Trials: found.Trials}, nil
}

var forms = [...]string{
	inpacket.Single: "single", inpacket.Staged: "staged", inpacket.Folded: "folded",
	inpacket.Linear: "linear", inpacket.Dense: "dense",
}

// FormName returns a form in a word, as in Plan.Form: single, staged, folded, linear
// or dense.
func FormName(f inpacket.Form) string {
	if int(f) < len(forms) {
		return forms[f]
	}
	return fmt.Sprintf("form %d", f)
}

// ParseForms returns the forms of a list of their names, with commas between: what
// Umbel may search among. Dense isn't one of them.
func ParseForms(list string) ([]inpacket.Form, error) {
	var fs []inpacket.Form
next:
	for name := range strings.SplitSeq(list, ",") {
		for f, n := range forms[:inpacket.Dense] {
			if n == name {
				fs = append(fs, inpacket.Form(f))
				continue next
			}
		}
		return nil, fmt.Errorf("scheme: form %q, want one of %s", name, strings.Join(forms[:inpacket.Dense], ", "))
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
