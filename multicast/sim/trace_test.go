package sim_test

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func TestTraceByHand(t *testing.T) {
	g := ring(5)
	n, tr := network(g), treeOf(t, g, 0, 2, 3, 4) // A-B-C, A-E-D
	s := listed{ttl: 3, extra: func(*tree.Tree) []topology.Arc { return []topology.Arc{arc(t, g, 2, 3)} }}
	d, p := planned(t, s, n, n, tr)
	d.Receive(7, []int{1, 2, 3, 4}) // B takes the group, though the tree doesn't say so
	down := make([]bool, len(g.Links))
	down[arc(t, g, 4, 3).Link()] = true
	w := sim.NewFabric(n)
	got := w.Trace(d, tr, p, sim.Options{Down: down})
	want := `
hop  node  ttl  from  what
  0  A       -        to B, E
  1  B       -  A     delivered, to no receiver; to C
  1  E       -  A     delivered; to D (lost)
  2  C       -  B     delivered; to D (false)
  3  D       -  C     delivered
`
	if text := "\n" + got.String(); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	if len(got.Visits) != 5 || !got.Visits[4].Astray || got.Visits[3].Astray || !got.Judged {
		t.Errorf("visits %+v: want the last astray", got.Visits)
	}
	if r := w.Send(d, tr, p, sim.Options{Down: down}); r != got.Record {
		t.Errorf("traced %+v, sent %+v", got.Record, r)
	}
}

func TestTraceTellsWhoIsMissed(t *testing.T) {
	g := line(4)
	n, tr := network(g), treeOf(t, g, 0, 1, 3)
	d, p := planned(t, listed{ttl: 2}, n, n, tr)
	got := sim.NewFabric(n).Trace(d, tr, p, sim.Options{})
	if text := got.String(); !strings.HasSuffix(text, "got nothing: D\n") {
		t.Errorf("got %s\nwant D missed", text)
	}
}

func TestTraceOfTwoPackets(t *testing.T) {
	g := line(3)
	n, tr := network(g), treeOf(t, g, 0, 2)
	d, p := planned(t, listed{}, n, n, tr)
	p.Headers = append(p.Headers, p.Headers[0])
	got := sim.NewFabric(n).Trace(d, tr, p, sim.Options{MaxCopies: 3})
	want := `
hop  node  ttl  from  what
  0  A       -        to B
  1  B       -  A     to C
  2  C       -  B     delivered
packet 2
  0  A       -        to B
  1  B       -  A     ends here
`
	if text := "\n" + got.String(); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}

func TestTraceOfAnyBytes(t *testing.T) {
	g := line(3)
	n := network(g)
	d, err := listed{}.Domain(n, n)
	if err != nil {
		t.Fatal(err)
	}
	w := sim.NewFabric(n)
	got := w.TraceHeader(d, 1, []byte{1, 2}, sim.Options{})
	want := `
hop  node  ttl  from  what
  0  B       -        dropped: its header is invalid or cut off
`
	if text := "\n" + got.String(); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	got = w.TraceHeader(d, 0, []byte{2, 0, 0, 0, 0, 0b1111}, sim.Options{})
	want = `
hop  node  ttl  from  what
  0  A       -        to B
  1  B       -  A     to C
  2  C       -  B     ends here
`
	if text := "\n" + got.String(); text != want || got.Judged {
		t.Errorf("got %s\nwant %s, with nothing called false", text, want)
	}
}
