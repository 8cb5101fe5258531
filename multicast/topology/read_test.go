package topology_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// triangle is the contents of all files of the triangle.
var triangle = []topology.Link{{A: 0, B: 1, Weight: 2.5}, {A: 0, B: 2, Weight: 1}, {A: 1, B: 2, Weight: 4}}

func TestReadFormats(t *testing.T) {
	for _, test := range []struct {
		file, name string
		placed     bool
		notes      topology.Notes
	}{
		{"triangle.tsv", "triangle", true, topology.Notes{}},
		{"triangle.gml", "three places", true, topology.Notes{}},
		{"topohub.gml", "three", true, topology.Notes{}},
		{"zoo.gml", "Zoo's", true, topology.Notes{Merged: 2, SelfLoops: 1, Renamed: 1}},
		{"triangle.graphml", "three places", true, topology.Notes{}},
		{"triangle.weights.intra", "triangle", false, topology.Notes{}},
	} {
		t.Run(test.file, func(t *testing.T) {
			b, err := os.ReadFile("testdata/" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			g, notes, err := topology.Read(strings.NewReader(string(b)), "some/where/"+test.file)
			if err != nil {
				t.Fatal(err)
			}
			if g.Name != test.name || notes != test.notes {
				t.Errorf("name %q, notes %+v, want %q, %+v", g.Name, notes, test.name, test.notes)
			}
			if !reflect.DeepEqual(g.Links, triangle) {
				t.Errorf("links %v, want %v", g.Links, triangle)
			}
			for i, name := range []string{"São Paulo, BR", "Oslo", "Oslo (2)"} {
				want := topology.Node{Name: name, ID: g.Nodes[i].ID}
				if test.placed && i < 2 {
					want.X, want.Y, want.Placed = float64(-46*(1-i)), float64(i*60)-23.5*float64(1-i), true
				}
				if g.Nodes[i] != want {
					t.Errorf("node %d is %+v, want %+v", i, g.Nodes[i], want)
				}
			}

			// If the extension does not determine the format, the content does.
			again, _, err := topology.Read(strings.NewReader("\uFEFF"+string(b)), "triangle")
			if err != nil {
				t.Fatal("by its content:", err)
			}
			if !reflect.DeepEqual(again.Links, g.Links) {
				t.Errorf("by its content, links are %v, want %v", again.Links, g.Links)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	small := topology.Limits{Nodes: 2, Links: 2, Line: 50, Bytes: 500}
	for _, test := range []struct {
		what, name, text string
		want             error
		says             string
	}{
		{"nothing", "x", "", topology.ErrFormat, "no nodes"},
		{"comments only", "x.tsv", "# nothing\n", topology.ErrFormat, "no nodes"},
		{"a third node", "x.tsv", "n\ta\t\nn\tb\t\nn\tc\t\n", topology.ErrLimit, "line 3: more than 2 nodes"},
		{"a third link", "x.tsv", "n\ta\t\nn\tb\t\ne\ta\tb\ne\ta\tb\ne\ta\tb\n", topology.ErrLimit, "line 5: more than 2 links"},
		{"a long line", "x.tsv", "n\ta\t\nn\tb\t" + strings.Repeat("b", 60), topology.ErrLimit, "line 2: more than 50"},
		{"many bytes", "x.tsv", strings.Repeat("# something\n", 99), topology.ErrLimit, "more than 500 bytes"},
		{"another letter", "x.tsv", "n\ta\t\nx\tb\n", topology.ErrFormat, `line 2: the line begins with "x"`},
		{"an id twice", "x.tsv", "n\ta\tb\nn\ta\tc\n", topology.ErrFormat, `line 2: repeated node "a"`},
		{"a node of two fields", "x.tsv", "n\ta\n", topology.ErrFormat, "2 fields"},
		{"a node of half a place", "x.tsv", "n\ta\tb\t1\n", topology.ErrFormat, "4 fields"},
		{"a place of letters", "x.tsv", "n\ta\tb\t1\tc\n", topology.ErrFormat, `"c", want two numbers`},
		{"a link of one node", "x.tsv", "n\ta\tb\ne\ta\n", topology.ErrFormat, "2 fields"},
		{"a link of no node", "x.tsv", "n\ta\tb\ne\ta\tb\n", topology.ErrFormat, `"b"`},
		{"a weight of letters", "x.tsv", "n\ta\tb\nn\tb\tb\ne\ta\tb\tc\n", topology.ErrFormat, `weight "c"`},

		{"a weight missing", "x.intra", "a b\n", topology.ErrFormat, "2 fields"},
		{"a weight of letters", "x.intra", "a b c\n", topology.ErrFormat, `weight "c"`},
		{"a third node", "x.intra", "a b 1\na c 1\n", topology.ErrLimit, "line 2: more than 2 nodes"},
		{"a third link", "x.intra", "a b 1\nb a 1\na b 3\n", topology.ErrLimit, "line 3: more than 2 links"},

		{"no graph", "x.gml", "Creator \"a\"\n", topology.ErrFormat, "no graph"},
		{"two graphs", "x.gml", "graph [ node [ id 1 ] ]\ngraph [ ]", topology.ErrFormat, "line 2"},
		{"an open graph", "x.gml", "graph [\nnode [ id 1 ]\n", topology.ErrFormat, "line 3: the graph that begins at line 1"},
		{"an open node", "x.gml", "graph [\nnode [ id 1 \n", topology.ErrFormat, "line 2"},
		{"an open quotation", "x.gml", "graph [\nlabel \"a", topology.ErrFormat, "line 2"},
		{"a key without a value", "x.gml", "graph [\nlabel ]", topology.ErrFormat, `line 2: key "label"`},
		{"a quotation for a key", "x.gml", "graph [\n\"label\" 3 ]", topology.ErrFormat, `line 2: "label", want a key`},
		{"a node without id", "x.gml", "graph [\nnode [ label \"a\" ] ]", topology.ErrFormat, "line 2"},
		{"an id twice", "x.gml", "graph [\nnode [ id 1 ]\nnode [ id 1 ] ]", topology.ErrFormat, "line 3"},
		{"a link without target", "x.gml", "graph [ node [ id 1 ]\nedge [ source 1 ] ]", topology.ErrFormat, "line 2"},
		{"a link of no node", "x.gml", "graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]", topology.ErrFormat, `"2"`},
		{"a link from no node", "x.gml", "graph [ node [ id 1 ]\nedge [ source 3 target 1 ] ]", topology.ErrFormat, `"3"`},
		{"a weight of letters", "x.gml", "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight a ] ]", topology.ErrFormat, `line 2: weight "a"`},
		{"a latitude of letters", "x.gml", "graph [ node [ id 1 lat \"N\" ]\n ]", topology.ErrFormat, `line 1: lat "N"`},
		{"a longitude of letters", "x.gml", "graph [ node [ id 1 lon \"W\" ]\n ]", topology.ErrFormat, `line 1: lon "W"`},
		{"a bracket that opens nothing", "x.gml", "]", topology.ErrFormat, `line 1: "]", want a key`},
		{"a bracket for a key", "x.gml", "graph [\nnode [ [ ] ] ]", topology.ErrFormat, `line 2: "[", want a key`},
		{"a key at the end", "x.gml", "graph [ node [ id 1 ] ]\nend", topology.ErrFormat, `line 2: key "end" without a value`},
		{"a long quotation", "x.gml", "graph [\nlabel \"" + strings.Repeat("a", 60), topology.ErrLimit, "line 2: more than 50 bytes between quotes"},
		{"a long word", "x.gml", "graph [\n" + strings.Repeat("a", 60), topology.ErrLimit, "line 2: more than 50 bytes in a word"},
		{"a third link", "x.gml", "graph [" + strings.Repeat(" edge [ source 1 target 1 ]", 3), topology.ErrLimit, "more than 2 links"},
		{"many bytes", "x.gml", strings.Repeat("# something\n", 99), topology.ErrLimit, "more than 500 bytes"},

		{"no graph", "x.graphml", "<graphml/>", topology.ErrFormat, "no graph"},
		{"tags that don't match", "x.graphml", "<graphml>\n<graph></node>", topology.ErrFormat, "line 2: element <graph>"},
		{"an end in a node", "x.graphml", "<graphml><graph><node id='a'>", topology.ErrFormat, "unexpected EOF"},
		{"two graphs", "x.graphml", "<graphml><graph/>\n<graph/></graphml>", topology.ErrFormat, "line 2"},
		{"a graph in a node", "x.graphml", "<graphml><graph>\n<node id='a'><graph/></node></graph></graphml>", topology.ErrFormat, "line 2"},
		{"a hyperedge", "x.graphml", "<graphml><graph>\n<hyperedge/></graph></graphml>", topology.ErrFormat, "line 2"},
		{"a link of no node", "x.graphml", "<graphml><graph>\n<edge source='a' target='b'/></graph></graphml>", topology.ErrFormat, `"a"`},
		{"another alphabet", "x.graphml", "<?xml version='1.0' encoding='latin1'?><graphml/>", topology.ErrFormat, `line 1: xml: opening charset "latin1": want UTF-8`},
		{"a long id", "x.graphml", "<graphml><graph>\n<node id='" + strings.Repeat("a", 60) + "'/></graph></graphml>", topology.ErrLimit, "line 2: more than 50 bytes between quotes"},
		{"elements in elements", "x.graphml", "<graphml>\n" + strings.Repeat("<a>", 100), topology.ErrLimit, "line 2: more than 100"},
		{"elements in a node", "x.graphml", "<graphml><graph>\n<node>" + strings.Repeat("<a>", 98), topology.ErrLimit, "line 2: more than 100"},
		{"a third key", "x.graphml", "<graphml><key id='a'/><key id='b'/>\n<key id='c'/></graphml>", topology.ErrLimit, "line 2: more than 2 keys"},
		{"a long text of a node", "x.graphml", "<graphml><graph><node id='a'><data>" + strings.Repeat("a", 60), topology.ErrLimit, "between tags"},
		{"an end among what is skipped", "x.graphml", "<graphml><graph><node id='a'><port>", topology.ErrFormat, "unexpected EOF"},
		{"a long text", "x.graphml", "<graphml>\n" + strings.Repeat("a", 60), topology.ErrLimit, "between tags"},
		{"a text of pieces", "x.graphml", "<graphml><graph><data>" + strings.Repeat("aaaaaaaaaaaa<a/>", 6) + "</data></graph></graphml>", topology.ErrLimit, "in an element"},
	} {
		t.Run(test.name+" with "+test.what, func(t *testing.T) {
			_, _, err := small.Read(strings.NewReader(test.text), test.name)
			if err == nil {
				t.Fatal("no error")
			}
			if test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %q, want one wrapping %q that contains %q", err, test.want, test.says)
			}
			if !strings.Contains(err.Error(), test.name) {
				t.Errorf("error %q doesn't name %s", err, test.name)
			}
		})
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestReadPassesErrorsOn(t *testing.T) {
	for _, name := range []string{"a", "a.tsv", "a.gml", "a.graphml", "a.intra"} {
		if _, _, err := topology.Read(broken{}, name); !errors.Is(err, errBroken) {
			t.Errorf("%s: error %v, want %v", name, err, errBroken)
		}
	}
}

func TestNotesString(t *testing.T) {
	if got := (topology.Notes{}).String(); got != "as read" {
		t.Errorf("no notes are %q", got)
	}
	n := topology.Notes{Merged: 1, SelfLoops: 2, Renamed: 3, Unweighted: 4}
	const want = "1 repeated links merged, 2 self loops dropped, 3 nodes renamed, 4 unusable weights set to 1"
	if got := n.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamesAreUnique(t *testing.T) {
	const text = "n\t0\t\nn\t1\t\nn\t2\ta\nn\t3\ta (2)\nn\t4\ta\nn\t5\ta\nn\t6\ta\x00\x01b\nn\t7\t\xff\nn\t8\tnode 8\n"
	g, notes, err := topology.ReadTSV(strings.NewReader(text), topology.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"node 0", "node 1", "a", "a (2)", "a (3)", "a (4)", "a  b", "\uFFFD", "node 8"} {
		if got := g.Nodes[i].Name; got != want {
			t.Errorf("node %d is %q, want %q", i, got, want)
		}
		if got, ok := g.Find(want); !ok || got != i {
			t.Errorf("found %q at %d, %v, want %d", want, got, ok, i)
		}
	}
	if notes.Renamed != 6 {
		t.Errorf("%d renamed, want 6", notes.Renamed)
	}
	if _, ok := g.Find("b"); ok {
		t.Error("found a node that there isn't")
	}
}

func TestWeightsThatAreNone(t *testing.T) {
	const text = "n\ta\t\nn\tb\t\nn\tc\t\nn\td\t\ne\ta\tb\t0\ne\ta\tc\tNaN\ne\ta\td\t-3\ne\tb\tc\tInf\ne\tb\td\t0.25\n"
	g, notes, err := topology.ReadTSV(strings.NewReader(text), topology.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 1, 1, 1, 0.25} {
		if g.Links[i].Weight != want {
			t.Errorf("link %d weighs %v, want %v", i, g.Links[i].Weight, want)
		}
	}
	if notes.Unweighted != 4 {
		t.Errorf("%d unweighted, want 4", notes.Unweighted)
	}
}

// TestListsInNodes: attributes of a label or a frame, which drawing programs write, are not
// attributes of the node.
func TestListsInNodes(t *testing.T) {
	const text = `graph [
		node [ graphics [ id 9 x 3 y 4 Line [ point [ x 5 y 6 ] ] ] LabelGraphics [ label "not this" weight "bold" ] id 1 label "a" ]
		node [ id 2 label "b" ]
		edge [ graphics [ source 7 target 7 weight 7 ] source 1 target 2 weight 2.5 ]
	]`
	g, notes, err := topology.Read(strings.NewReader(text), "a.gml")
	if err != nil {
		t.Fatal(err)
	}
	want := topology.Graph{
		Name:  "a",
		Nodes: []topology.Node{{Name: "a", X: 3, Y: 4, Placed: true}, {Name: "b"}},
		Links: []topology.Link{{A: 0, B: 1, Weight: 2.5}},
	}
	if !reflect.DeepEqual(*g, want) || notes != (topology.Notes{}) {
		t.Errorf("read %+v, %v, want %+v", *g, notes, want)
	}
}

// TestLimitsBelowZero: negative limits have the meaning of zero.
func TestLimitsBelowZero(t *testing.T) {
	below := topology.Limits{Nodes: -1, Links: -1, Line: -1, Bytes: -1}
	for name, text := range map[string]string{
		"a.tsv": "n\ta\t\n", "a.intra": "a b 1\n", "a.gml": "graph [ node [ id 1 ] ]", "a.graphml": "<graphml><graph><node id='a'/></graph></graphml>",
	} {
		if _, _, err := below.Read(strings.NewReader(text), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGraphMLDefaults: an attribute that a link lacks has the default of its key.
func TestGraphMLDefaults(t *testing.T) {
	const text = `<graphml>
		<key id="w" for="edge" attr.name="weight"><desc>cost</desc><default>2.5</default></key>
		<key id="n" for="node" attr.name="weight"><default>9</default></key>
		<key id="x" attr.name="x"><default>3</default></key><key id="y" for="all" attr.name="y"><default>4</default></key>
		<graph><node id="a"/><node id="b"><data key="x">5</data></node><node id="c"/>
		<edge source="a" target="b"/><edge source="b" target="c"><data key="w">7</data></edge></graph></graphml>`
	g, _, err := topology.Read(strings.NewReader(text), "a.graphml")
	if err != nil {
		t.Fatal(err)
	}
	want := topology.Graph{
		Name:  "a",
		Nodes: []topology.Node{{Name: "a", X: 3, Y: 4, Placed: true}, {Name: "b", X: 5, Y: 4, Placed: true}, {Name: "c", X: 3, Y: 4, Placed: true}},
		Links: []topology.Link{{A: 0, B: 1, Weight: 2.5}, {A: 1, B: 2, Weight: 7}},
	}
	if !reflect.DeepEqual(*g, want) {
		t.Errorf("read %+v, want %+v", *g, want)
	}
}

// TestReadWeightsDirections: a second line for the other direction of a link is normal. A third
// line is merged and counted.
func TestReadWeightsDirections(t *testing.T) {
	_, notes, err := topology.Read(strings.NewReader("a b 1\nb a 2\na b 3\na a 1\nb c 1\n"), "a.intra")
	if err != nil {
		t.Fatal(err)
	}
	if want := (topology.Notes{Merged: 1, SelfLoops: 1}); notes != want {
		t.Errorf("notes %+v, want %+v", notes, want)
	}
}
