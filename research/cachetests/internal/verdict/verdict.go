// Package verdict contains the results of tests: how they are written, counted and compared.
package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The kinds of failures.
const (
	Assertion = "Assertion" // what the test is about was not observed
	Setup     = "Setup"     // the cache didn't do what the test builds on, so the test is void
	Harness   = "Error"     // no response was received
)

// Verdict is the result of a test. The zero value is a pass.
type Verdict struct {
	Kind string // "" is a pass
	Text string // what was observed and what was expected
}

// Pass reports whether the test passed.
func (v Verdict) Pass() bool { return v.Kind == "" }

// String returns "pass", or the kind of failure and its text.
func (v Verdict) String() string {
	if v.Pass() {
		return "pass"
	}
	return v.Kind + ": " + v.Text
}

// MarshalJSON writes true for a pass and [kind, text] for a failure: the form of the published results.
func (v Verdict) MarshalJSON() ([]byte, error) {
	if v.Pass() {
		return []byte("true"), nil
	}
	return json.Marshal([]string{v.Kind, v.Text})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		*v = Verdict{}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil || len(list) != 2 || list[0] == "" {
		return fmt.Errorf("a verdict is true or [kind, text], not %.100s", data)
	}
	*v = Verdict{Kind: list[0], Text: list[1]}
	return nil
}

// Verdicts are the results of tests by their id.
type Verdicts map[string]Verdict

// maxBytes limits a file of verdicts. The published ones have 22 kB.
const maxBytes = 4 << 20

// Read reads verdicts in the form of the published results: an object from ids to verdicts.
func Read(r io.Reader) (Verdicts, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("verdict: %w", err)
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("verdict: more than %d bytes; this is not a file of verdicts", maxBytes)
	}
	var v Verdicts
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("verdict: %w", err)
	}
	if v == nil {
		return nil, errors.New("verdict: null instead of an object")
	}
	return v, nil
}
