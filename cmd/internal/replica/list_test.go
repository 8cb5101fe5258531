package replica

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
)

type digest = umbel.Digest

func TestList(t *testing.T) {
	var l List
	if err := l.Set("- {filter: a, source: https://example.org/a, public-key: a.pub, zone: 1, cost: 2.5, fpr: 0.05, start-bytes: 7, bytes-per-second: 8, memory: 9}\n- {source: b, public-key: b.pub}"); err != nil {
		t.Fatal(err)
	}
	want := List{{"a", "https://example.org/a", "a.pub", 1, 2.5, Budget{0.05, 7, 8, 9}}, {"", "b", "b.pub", 0, 0, Budget{}}}
	if !slices.Equal(l, want) {
		t.Errorf("got %+v, want %+v", l, want)
	}
	var again List
	if err := again.Set(l.String()); err != nil || !slices.Equal(again, want) {
		t.Errorf("%s: %+v, %v", l.String(), again, err)
	}
	for text, want := range map[string]string{
		"words":                                    "want a list such as",
		"[{filter: a, public-key: x}]":             "has no source",
		"[{source: a}]":                            "has no public-key",
		"[{source: a, key: x}]":                    "want a list such as",
		"[{source: a, public-key: x, fpr: 1}]":     "fpr is 1",
		"[{source: a, public-key: x, cost: .nan}]": "not a number",
		"[{filter: a, source: a, public-key: x}, {filter: a, source: b, public-key: x}]": "two subscriptions",
	} {
		if err := again.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if !slices.Equal(again, l) {
		t.Error("a list that is wrong replaces the one before")
	}
}

func TestParseSource(t *testing.T) {
	for arg, want := range map[string][2]string{
		"public":                      {"", "public"},
		"words=public":                {"words", "public"},
		"words=https://a.example/x=1": {"words", "https://a.example/x=1"},
		"https://a.example/?x=1":      {"", "https://a.example/?x=1"},
		"./a=b":                       {"", "./a=b"},
		"=a":                          {"", "=a"},
		"a=":                          {"", "a="},
	} {
		if filter, source := ParseSource(arg); filter != want[0] || source != want[1] {
			t.Errorf("%s: %q, %q, want %q", arg, filter, source, want)
		}
	}
}
