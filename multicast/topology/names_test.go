package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// namesByRule is the rule of spec/inpacket.md, "Keys and codewords", step by step.
func namesByRule(file []string) (names []string) {
	for i, name := range file {
		name = strings.ToValidUTF8(name, "\uFFFD")
		name = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cc, r) {
				return ' '
			}
			return r
		}, name))
		if name == "" {
			name = fmt.Sprint("node ", i)
		}
		unique := name
		for n := 2; slices.Contains(names, unique); n++ {
			unique = fmt.Sprintf("%s (%d)", name, n)
		}
		names = append(names, unique)
	}
	return names
}

// gml returns a file in GML with nodes of these names.
func gml(names []string) string {
	var b strings.Builder
	b.WriteString("graph [\n")
	for i, name := range names {
		fmt.Fprintf(&b, "node [ id %d label %q ]\n", i, name)
	}
	b.WriteString("]\n")
	return b.String()
}

func namesOf(t *testing.T, file []string) (names []string) {
	t.Helper()
	g, _, err := topology.Read(strings.NewReader(gml(file)), "a.gml")
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	for _, n := range g.Nodes {
		names = append(names, n.Name)
	}
	return names
}

// TestNamesOfTheSpecification: the example of spec/inpacket.md, and the two names that public maps
// repeat. Two nodes of one name that change places exchange their names, and so the keys of their links.
func TestNamesOfTheSpecification(t *testing.T) {
	for _, c := range []struct{ file, want []string }{
		{[]string{"DeCix", "DeCix", "DeCix (2)"}, []string{"DeCix", "DeCix (2)", "DeCix (2) (2)"}},
		{[]string{"DeCix (2)", "DeCix", "DeCix"}, []string{"DeCix (2)", "DeCix", "DeCix (3)"}},
		{[]string{"None", "None", "None", "Oslo", "None"}, []string{"None", "None (2)", "None (3)", "Oslo", "None (4)"}},
	} {
		if got := namesOf(t, c.file); !slices.Equal(got, c.want) || !slices.Equal(namesByRule(c.file), c.want) {
			t.Errorf("%q became %q, by the rule %q, want %q", c.file, got, namesByRule(c.file), c.want)
		}
	}
}

// TestNamesFollowTheRule compares names of random files, in which many are equal, with the rule.
func TestNamesFollowTheRule(t *testing.T) {
	parts := []string{"a", "b", " ", "(2)", " (2)", " (3)", "node 1", "ü"}
	r := rand.New(rand.NewPCG(1, 5))
	for range 2000 {
		file := make([]string, 1+r.IntN(12))
		for i := range file {
			file[i] = "x" // the label of a node is not empty; otherwise its id would be the name
			for range r.IntN(3) {
				file[i] += parts[r.IntN(len(parts))]
			}
		}
		if got, want := namesOf(t, file), namesByRule(file); !slices.Equal(got, want) {
			t.Fatalf("%q became %q, by the rule %q", file, got, want)
		}
	}
}
