package tree

import (
	"cmp"
	"slices"
)

// join finds a tree by joining receivers one by one, always the one that takes the
// fewest new links, on a shortest way from the source that uses those there are; it
// returns the number of links. The tree is joined and via. Takahashi and Matsuyama 1980
// do so without asking that ways be shortest.
func (f *Finder) join(w *ways, source int, receivers []int) (count int) {
	clear(f.joined)
	f.joined[source] = true
	for left := slices.Clone(receivers); len(left) > 0; {
		f.quote(w)
		i := 0
		for j, r := range left {
			if f.price[r] < f.price[left[i]] {
				i = j
			}
		}
		for v := left[i]; !f.joined[v]; {
			f.joined[v] = true
			count++
			v, _ = f.graph.Ends(f.via[v])
		}
		left = slices.DeleteFunc(left, func(r int) bool { return f.joined[r] })
	}
	return count
}

// quote finds the price of each node, the fewest links that have to be added for a
// shortest way to it, and of nodes that aren't joined the arc that way ends with. Of
// ways at the same price it takes that from the node with the fewest links, since links
// next to the tree lengthen a filter.
func (f *Finder) quote(w *ways) {
	for _, v := range w.order {
		f.price[v] = 0
		arcs := w.into(int(v))
		if f.joined[v] || len(arcs) == 0 {
			continue
		}
		best := arcs[0]
		for _, a := range arcs[1:] {
			x, _ := f.graph.Ends(a)
			y, _ := f.graph.Ends(best)
			if cmp.Or(cmp.Compare(f.price[x], f.price[y]), cmp.Compare(len(f.ports[x]), len(f.ports[y]))) < 0 {
				best = a
			}
		}
		f.via[v] = best
		from, _ := f.graph.Ends(best)
		f.price[v] = f.price[from] + 1
	}
}
