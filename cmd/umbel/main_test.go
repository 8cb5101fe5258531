package main

import "testing"

// A message is one line, without the prefix of package umbel.
func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		"umbel: no such kind":         "no such kind",
		"file f: umbel: no such kind": "file f: no such kind",
		"cannot write\ncannot close":  "cannot write; cannot close",
		"if any flags in the group [a b] are set none of the others can be; [a b] were all set": "--a and --b can't be combined",
	} {
		if got := message(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
