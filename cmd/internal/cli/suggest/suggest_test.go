package suggest

import (
	"slices"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "has", 3}, {"has", "", 3}, {"has", "has", 0}, {"hass", "has", 1}, {"ahs", "has", 1},
		{"mkae", "make", 1}, {"hsa", "has", 1}, {"ca", "abc", 3}, {"abcd", "badc", 2}, {"durabilty", "durability", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestRenamed(t *testing.T) {
	for _, c := range []struct {
		word, want string
		names      []string
	}{
		{"weights", "weights-log", []string{"fpr", "weights-log"}}, {"weights", "frequencies", []string{"fpr", "frequencies"}},
		{"weights", "", []string{"fpr"}}, {"zebra", "", []string{"fpr"}}, {"rate", "fpr", []string{"fpr", "keys"}},
	} {
		if got := Renamed(c.word, c.names); got != c.want {
			t.Errorf("Renamed(%q, %q) = %q, want %q", c.word, c.names, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	verbs := []string{"make", "man", "add", "has", "merge", "pack", "patch", "measure"}
	for word, want := range map[string][]string{
		"hass": {"has"}, "MAKE": {"make"}, "mak": {"make", "man"}, "merg": {"merge"}, "pacth": {"patch"},
		"mesure": {"measure"}, "hsa": {"has"}, "zebra": nil, "": nil,
	} {
		if got := Nearest(word, verbs); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
