package yamltext

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

// An error has one line and no value.
func TestError(t *testing.T) {
	for text, want := range map[string]string{
		"secret":                         "line 1: want keys and values",
		"list: secret":                   "line 1: want a list",
		"list: []\nnumber: secret\na: b": "line 2: want a number",
		"on: secret\nlist: secret":       "line 1: want true or false",
		"[secret":                        "line 1: did not find expected ',' or ']'",
		"list: []\nlist: []":             `line 2: key "list" already defined`,
		"list: [a]\non: true\nnumber: 1": "",
	} {
		var v struct {
			List   []string
			Number int
			On     bool
		}
		err := Error(yaml.Unmarshal([]byte(text), &v))
		if got := ""; err != nil && err.Error() != want || err == nil && want != "" {
			if err != nil {
				got = err.Error()
			}
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if err := Error(yaml.Unmarshal([]byte("a: 1"), &map[string]string{})); err != nil {
		t.Errorf("a map of settings: %v", err)
	}
	if err := Error(yaml.Unmarshal([]byte("secret"), &map[string]any{})); err == nil || err.Error() != "line 1: want keys and values" {
		t.Errorf("a word instead of settings: %v", err)
	}
}
