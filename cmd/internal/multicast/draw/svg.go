// Package draw draws trees over topologies as SVG. The pictures follow the reader's light
// or dark mode, contain no scripts, and describe their contents in words.
package draw

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// SVG draws a graph. See Picture.SVG; a Picture is faster for more than one drawing of
// the same graph.
func SVG(w io.Writer, g *topology.Graph, o Options) error { return New(g).SVG(w, o) }

// Picture is a graph with the places of its nodes. It is immutable and safe for
// concurrent use.
type Picture struct {
	graph  *topology.Graph
	places []point
	height float64
	radius float64
}

// New returns a picture of a graph. It uses the places in the graph if at least half of
// the nodes have one, and otherwise chooses places whose distances approximate the
// lengths of the paths between the nodes. That takes about a second for 1000 nodes. The
// same graph always gets the same places.
func New(g *topology.Graph) *Picture {
	places, height := layout(g)
	return &Picture{g, places, height, radius(len(g.Nodes))}
}

// SVG writes a drawing. The arcs of the tree are bold with arrows; false forwards are
// dashed and in another color; failed links are dotted; the source is a square and
// receivers are diamonds, with their names. Links have the attribute data-link and nodes
// data-node with their indexes, for pages that process them. It returns an error wrapping
// ErrOptions, or the error of w.
func (p *Picture) SVG(w io.Writer, o Options) error {
	if err := o.check(p.graph); err != nil {
		return err
	}
	if o.ID == "" {
		o.ID = "umbel"
	}
	d := &drawing{Picture: p, Options: o, out: bufio.NewWriter(w)}
	d.all()
	return d.out.Flush()
}

// drawing is the state of writing one SVG. Errors of the writer are returned when it is
// flushed.
type drawing struct {
	*Picture
	Options
	out *bufio.Writer
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// text writes text that may contain any character.
func (d *drawing) text(s string) { _ = xml.EscapeText(d.out, []byte(s)) }

// n formats a length with one decimal.
func n(x float64) string {
	s := strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

func (d *drawing) all() {
	keys := d.keys()
	below := legendHeight(len(keys))
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="umbel-network" role="img" aria-labelledby="%s-title %s-about" viewBox="0 0 %s %s">`+"\n",
		d.ID, d.ID, n(width), n(d.height+below))
	d.printf(`<title id="%s-title">`, d.ID)
	d.text(d.title(d.graph))
	d.printf("</title>\n"+`<desc id="%s-about">`, d.ID)
	d.text(d.description(d.graph))
	d.printf("</desc>\n<style>%s</style>\n<defs>\n", style)
	for _, kind := range []string{"way", "stray"} {
		d.printf(`<marker id="%s-%s" class="%s-head" viewBox="0 0 10 10" refX="9" refY="5" `+
			`markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1 10 5 0 9z"/></marker>`+"\n", d.ID, kind, kind)
	}
	d.printf("</defs>\n"+`<rect class="ground" width="%s" height="%s"/>`+"\n", n(width), n(d.height+below))
	d.links()
	d.arcs()
	d.nodes()
	d.names()
	d.legend(keys)
	d.printf("</svg>\n")
}

// links draws all links with their loads and failures.
func (d *drawing) links() {
	failed := make(map[int]bool, len(d.Failed))
	for _, l := range d.Failed {
		failed[l] = true
	}
	most := d.mostLoad()
	d.printf("<g class=\"links\">\n")
	for i, l := range d.graph.Links {
		a, b := d.places[l.A], d.places[l.B]
		class, wide := "link", ""
		if failed[i] {
			class = "failed"
		} else if load := d.load(i); load > 0 {
			class = "load"
			wide = fmt.Sprintf(` style="stroke-width:%s"`, n(1+6*float64(load)/float64(most)))
		}
		d.printf(`<path class="%s"%s data-link="%d" d="M%s %s %s %s"><title>`, class, wide, i, n(a.x), n(a.y), n(b.x), n(b.y))
		d.text(d.graph.Nodes[l.A].Name + " – " + d.graph.Nodes[l.B].Name)
		if most > 0 {
			d.printf(", %s", counted(d.load(i), "packet"))
		}
		if failed[i] {
			d.printf(", failed")
		}
		d.printf("</title></path>\n")
	}
	d.printf("</g>\n")
}

// load returns the number of packets on a link, in both directions.
func (d *drawing) load(link int) int {
	if len(d.Loads) == 0 {
		return 0
	}
	return d.Loads[2*link] + d.Loads[2*link+1]
}

func (d *drawing) mostLoad() (most int) {
	for i := range d.graph.Links {
		most = max(most, d.load(i))
	}
	return most
}

// arcs draws the tree, and the false forwards next to their links.
func (d *drawing) arcs() {
	if d.Tree != nil {
		d.printf("<g class=\"tree\">\n")
		for _, s := range d.Tree.Steps {
			d.arc(s.Arc, "way", 0)
		}
		d.printf("</g>\n")
	}
	if len(d.False) > 0 {
		d.printf("<g class=\"false\">\n")
		drawn := make(map[topology.Arc]bool, len(d.False))
		for _, a := range d.False {
			if !drawn[a] {
				drawn[a] = true
				d.arc(a, "stray", 3)
			}
		}
		d.printf("</g>\n")
	}
}

// arc draws an arrow from node to node, at the distance right to the right of their
// link.
func (d *drawing) arc(a topology.Arc, kind string, right float64) {
	from, to := d.graph.Ends(a)
	p, q := d.places[from], d.places[to]
	x, y := q.x-p.x, q.y-p.y
	long := math.Sqrt(float64(x*x) + float64(y*y))
	if long == 0 {
		return // nodes at the same place have no visible link
	}
	x, y = x/long, y/long
	short := min(d.radius+2, long/3) // leave the nodes visible
	p = point{p.x + float64(x*short) - float64(y*right), p.y + float64(y*short) + float64(x*right)}
	q = point{q.x - float64(x*short) - float64(y*right), q.y - float64(y*short) + float64(x*right)}
	d.printf(`<path class="%s" data-arc="%d" marker-end="url(#%s-%s)" d="M%s %s %s %s"/>`+"\n", kind, a, d.ID, kind, n(p.x), n(p.y), n(q.x), n(q.y))
}
