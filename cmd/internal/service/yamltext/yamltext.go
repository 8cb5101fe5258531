// Package yamltext words the errors of files in YAML for their authors.
package yamltext

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The decoder's errors about the structure of a file. The first quotes the value.
const (
	mismatch = `(?s)^(line \d+): cannot unmarshal .* into (.+)$`
	badField = `(?s)^(line \d+): (?:field|mapping key) (.*) (not found|already defined|already set)`
)

// Error returns an error of the decoder on one line and without the values that it quotes, which could be
// misplaced secrets. If the decoder found several errors it returns the first; nil stays nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	wrong := (*yaml.TypeError)(nil)
	if !errors.As(err, &wrong) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) // syntax
	}
	text := wrong.Errors[0]
	if m := regexp.MustCompile(badField).FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: key %.40q %s", m[1], strings.Trim(m[2], `"`), m[3])
	}
	m := regexp.MustCompile(mismatch).FindStringSubmatch(text)
	if m == nil {
		line, _, _ := strings.Cut(text, ":")
		return fmt.Errorf("%s: wrong structure", line)
	}
	want := "keys and values"
	switch {
	case strings.HasPrefix(m[2], "[]"):
		want = "a list"
	case m[2] == "string":
		want = "a string"
	case m[2] == "int":
		want = "a number"
	case m[2] == "bool":
		want = "true or false"
	}
	return fmt.Errorf("%s: want %s", m[1], want)
}
