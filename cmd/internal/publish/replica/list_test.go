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
	if err := l.Set("- {filter: a, source: https://example.org/a, public-key: a.pub, zone: 1, cost: 2.5, sparse: true, fpr: 5%, start-bytes: 7, bytes-per-second: 2kB, bytes: 1MiB}\n- {source: b, public-key: b.pub, fpr: 0}"); err != nil {
		t.Fatal(err)
	}
	want := List{{"a", "https://example.org/a", "a.pub", 1, 2.5, true, Budget{0.05, 7, 2000, 1 << 20}}, {"", "b", "b.pub", 0, 0, false, Budget{}}}
	if !slices.Equal(l, want) {
		t.Errorf("got %+v, want %+v", l, want)
	}
	var again List
	if err := again.Set(l.String()); err != nil || !slices.Equal(again, want) {
		t.Errorf("%s: %+v, %v", l.String(), again, err)
	}
	for text, want := range map[string]string{
		"words":                        "want a list such as",
		"[words":                       "line 1: did not find",
		"[words]":                      "subscription 1: want keys and values",
		"[{filter: a, public-key: x}]": `subscription 1 of "a": source is missing`,
		"[{source: a}]":                `subscription 1 of "a": public-key is missing`,
		"[{source: a, key: x}]":        `subscription 1 of "a": key: unknown key`,
		"[{source: a, zone: [1]}]":     `subscription 1 of "a": zone: want a single value`,
		"[{source: a, public-key: x, zone: 1.5}]":    `zone: "1.5" is not a whole number`,
		"[{source: a, public-key: x, fpr: 1}]":       `subscription 1 of "a": fpr: rate "1" must lie`,
		"[{source: a, public-key: x, bytes: 1 pie}]": `subscription 1 of "a": bytes: size "1 pie"`,
		"[{source: a, public-key: x, sparse: 2}]":    `sparse: "2" is neither true nor false`,
		"[{source: a, public-key: x, cost: .nan}]":   "not a finite number",
		"[{source: a, public-key: x, cost: inf}]":    "not a finite number",
		"[{source: 'https://u:secret@a.example', public-key: x}, {source: 'https://u:secret@a.example', fpr: x}]": `subscription 2 of "https://a.example": fpr`,
		"[{filter: a, source: a, public-key: x}, {filter: a, source: b, public-key: x}]":                          "two subscriptions",
	} {
		if err := again.Set(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "replica.") {
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
