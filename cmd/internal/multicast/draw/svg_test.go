package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/multicast/draw"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small returns a grid of 2 by 4 nodes with a tree and all marks that can be shown.
func small(t testing.TB) (*topology.Graph, draw.Options) {
	t.Helper()
	g, err := topology.Grid(2, 4)
	if err != nil {
		t.Fatal(err)
	}
	g.Name = "two & four"
	tr, err := tree.ShortestPath(g, 0, []int{2, 7}, tree.Hops)
	if err != nil {
		t.Fatal(err)
	}
	stray, _ := g.Between(1, 5)
	failed, _ := g.Between(4, 5)
	loads := make([]int, 2*len(g.Links))
	for _, s := range tr.Steps {
		loads[s.Arc] = 20 - 5*s.Hop
	}
	loads[stray] = 2
	return g, draw.Options{Tree: tr, False: []topology.Arc{stray, stray}, Failed: []int{failed.Link()}, Lost: []int{7}, Loads: loads}
}

func svg(t testing.TB, g *topology.Graph, o draw.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := draw.SVG(&b, g, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	g, o := small(t)
	got := svg(t, g, o)
	const file = "testdata/small.svg"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("not %s: look at the difference, then run go test with -update\n%s", file, got)
	}
}

var number = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// check parses a drawing as XML and returns the number of elements of each class.
func check(t testing.TB, b []byte) map[string]int {
	t.Helper()
	classes := map[string]int{}
	var wide, tall float64
	for in := xml.NewDecoder(bytes.NewReader(b)); ; {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v in\n%s", err, b)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "script" {
			t.Error("a script")
		}
		attributes := map[string]string{}
		for _, a := range e.Attr {
			attributes[a.Name.Local] = a.Value
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
			}
		}
		classes[attributes["class"]]++
		if e.Name.Local == "svg" {
			box := strings.Fields(attributes["viewBox"])
			wide, _ = strconv.ParseFloat(box[2], 64)
			tall, _ = strconv.ParseFloat(box[3], 64)
		}
		if attributes["class"] == "link" {
			for i, x := range number.FindAllString(attributes["d"], -1) {
				if at, err := strconv.ParseFloat(x, 64); err != nil || at < 0 || at > []float64{wide, tall}[i%2] {
					t.Errorf("link at %s: out of the picture, %v by %v", attributes["d"], wide, tall)
				}
			}
		}
	}
	return classes
}

func TestDrawings(t *testing.T) {
	unplaced := func(g *topology.Graph, err error) (*topology.Graph, error) {
		for i := range g.Nodes {
			g.Nodes[i].Placed = false
		}
		return g, err
	}
	for name, build := range map[string]func() (*topology.Graph, error){
		"line":                func() (*topology.Graph, error) { return topology.Line(5) },
		"pair":                func() (*topology.Graph, error) { return unplaced(topology.Line(2)) },
		"column":              func() (*topology.Graph, error) { return topology.Grid(5, 1) },
		"fat tree":            func() (*topology.Graph, error) { return topology.FatTree(6) },
		"unplaced waxman":     func() (*topology.Graph, error) { return unplaced(topology.Waxman(60, 0.4, 0.4, 1)) },
		"more than all pairs": func() (*topology.Graph, error) { return unplaced(topology.BarabasiAlbert(1500, 2, 1)) },
		"all in one place": func() (*topology.Graph, error) {
			g, err := topology.Grid(5, 5)
			for i := range g.Nodes {
				g.Nodes[i].X, g.Nodes[i].Y = 3, 4
			}
			return g, err
		},
		"places without end": func() (*topology.Graph, error) {
			g, err := topology.Grid(3, 3)
			g.Nodes[0].X, g.Nodes[1].Y, g.Nodes[2].X = math.Inf(1), math.NaN(), 1e308
			return g, err
		},
		"all places without end": func() (*topology.Graph, error) {
			g, err := topology.Grid(3, 3)
			for i := range g.Nodes {
				g.Nodes[i].X = 1e308
			}
			return g, err
		},
		"unplaced, in parts": func() (*topology.Graph, error) {
			g, err := unplaced(topology.Grid(2, 5))
			return g.Without([]int{5, 6, 7}), err
		},
		"the poles": func() (*topology.Graph, error) {
			g, err := topology.Line(4)
			for i := range g.Nodes {
				g.Nodes[i].Y = 90
			}
			return g, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := build()
			if err != nil {
				t.Fatal(err)
			}
			to := g.Ports()[0][0].Neighbor
			tr, err := tree.ShortestPath(g, 0, []int{to}, tree.Hops)
			if err != nil {
				t.Fatal(err)
			}
			first := svg(t, g, draw.Options{Tree: tr, Names: true})
			classes := check(t, first)
			if classes["link"] != len(g.Links) || classes["way"] != len(tr.Steps)+1 || classes["node"] != len(g.Nodes)-2 ||
				classes["source"] != 2 || classes["receiver"] != 2 { // one more in the legend
				t.Errorf("drawn: %v", classes)
			}
			if !bytes.Equal(first, svg(t, g, draw.Options{Tree: tr, Names: true})) {
				t.Error("not the same a second time")
			}
		})
	}
}

func TestWhatIsShown(t *testing.T) {
	g, o := small(t)
	classes := check(t, svg(t, g, o))
	for class, want := range map[string]int{
		"way": 1 + len(o.Tree.Steps), "stray": 2, "failed": 2, "lost": 2, "source": 2, "receiver": 2, "node": 5,
		"load": 1 + len(o.Tree.Steps) + 1, "ground": 1,
	} {
		if classes[class] != want {
			t.Errorf("%d of class %s, want %d", classes[class], class, want)
		}
	}
	bare := check(t, svg(t, g, draw.Options{}))
	for _, class := range []string{"way", "stray", "failed", "lost", "source", "receiver", "load", "legend"} {
		if bare[class] != 0 {
			t.Errorf("%d of class %s without options", bare[class], class)
		}
	}
}

func TestDescription(t *testing.T) {
	g, o := small(t)
	const want = "A network of 8 nodes and 10 links. A tree of 4 links leads from 0-0 to 2 receivers, at most 4 hops deep." +
		" 2 false forwards. 1 failed link. 1 lost receiver."
	if got := string(svg(t, g, o)); !strings.Contains(got, `<desc id="umbel-about">`+want+"</desc>") {
		t.Errorf("the description isn't %q in\n%.1000s", want, got)
	}
}

func TestTextIsEscaped(t *testing.T) {
	g, o := small(t)
	const bad = "</title><script>alert('1')</script>&\x00]]>"
	g.Nodes[0].Name, g.Nodes[1].Name, g.Nodes[2].Name, g.Name = bad, bad+"1", bad+"2", bad
	o.Names = true
	got := svg(t, g, o)
	check(t, got)
	if bytes.Contains(got, []byte("<script")) {
		t.Errorf("a script in\n%s", got)
	}
	o.Title = bad + "title"
	check(t, svg(t, g, o))
}

func TestOptionsThatDoNotFit(t *testing.T) {
	g, _ := small(t)
	other, o := small(t)
	cut := *o.Tree
	cut.Graph, cut.Steps = g, cut.Steps[1:]
	for name, o := range map[string]draw.Options{
		"a tree of another graph": {Tree: &tree.Tree{Graph: other}},
		"a tree that is none":     {Tree: &cut},
		"an arc above":            {False: []topology.Arc{20}},
		"an arc below":            {False: []topology.Arc{-1}},
		"a link above":            {Failed: []int{10}},
		"a link below":            {Failed: []int{-1}},
		"a node above":            {Lost: []int{8}},
		"a node below":            {Lost: []int{-1}},
		"loads of other arcs":     {Loads: make([]int, 19)},
		"a load below":            {Loads: append(make([]int, 19), -1)},
		"an id with a quote":      {ID: `a"`},
		"an id of a digit":        {ID: "1"},
	} {
		if err := draw.SVG(io.Discard, g, o); !errors.Is(err, draw.ErrOptions) {
			t.Errorf("%s: error %v, want ErrOptions", name, err)
		}
	}
	if err := draw.SVG(io.Discard, g, draw.Options{ID: "a-1"}); err != nil {
		t.Error(err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWritersErrors(t *testing.T) {
	g, o := small(t)
	if err := draw.SVG(full{}, g, o); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

func TestEmptyGraph(t *testing.T) {
	check(t, svg(t, &topology.Graph{}, draw.Options{}))
}

func BenchmarkSVG(b *testing.B) {
	g, err := topology.BarabasiAlbert(1000, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	p := draw.New(g)
	for b.Loop() {
		if err := p.SVG(io.Discard, draw.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	g, err := topology.BarabasiAlbert(1000, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	for i := range g.Nodes {
		g.Nodes[i].Placed = false
	}
	for b.Loop() {
		draw.New(g)
	}
}
