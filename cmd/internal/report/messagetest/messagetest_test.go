package messagetest

import "testing"

func TestFault(t *testing.T) {
	for text, ok := range map[string]bool{
		`wal: directory in use`:                              true,
		`filter "words": 12 of 12 keys: too many`:            true,
		`settings: "a": size "a": want a number`:             true,
		"one\ntwo":                                           false,
		`filter "words": filter "words": corrupt`:            false,
		`backup: verify: backup: not one`:                    false,
		`full: use Add and accept a higher rate`:             false,
		`ERR wrong number of arguments for 'bf.add' command`: true,
	} {
		if fault := Fault(text); (fault == "") != ok {
			t.Errorf("%q: %q", text, fault)
		}
	}
}
