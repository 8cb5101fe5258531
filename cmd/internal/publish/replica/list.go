package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/service/yamltext"
	"go.yaml.in/yaml/v3"
)

// List is a list of subscriptions: a list in the file of settings, and YAML or JSON in a flag or a variable.
type List []Spec

// Set parses a list. Its errors quote no element, which may have a password.
func (l *List) Set(text string) error {
	var items []yaml.Node
	if err := yaml.Unmarshal([]byte(text), &items); err != nil {
		const want = "want a list such as [{filter: words, source: https://example.org/words, public-key: words.pub}]"
		if _, other := errors.AsType[*yaml.TypeError](err); other {
			return errors.New(want)
		}
		return fmt.Errorf("%s: %w", want, yamltext.Error(err))
	}
	var list List
	for i, item := range items {
		spec, err := parseSpec(&item)
		if err != nil {
			return fmt.Errorf("subscription %d%s: %w", i+1, spec.of(), err)
		}
		list = append(list, spec)
	}
	if err := list.Check(); err != nil {
		return err
	}
	*l = list
	return nil
}

// Check returns an error if an element is incomplete or a filter occurs twice. It reads no files.
func (l List) Check() error {
	filters := map[string]bool{}
	for i, s := range l {
		if err := s.check(); err != nil {
			return fmt.Errorf("subscription %d%s: %w", i+1, s.of(), err)
		}
		if s.Filter != "" && filters[s.Filter] {
			return fmt.Errorf("two subscriptions have the filter %q; give them different names", s.Filter)
		}
		filters[s.Filter] = true
	}
	return nil
}

// String returns text that Set parses, "" for an empty list.
func (l *List) String() string {
	if l == nil || len(*l) == 0 {
		return ""
	}
	b, err := json.Marshal(*l)
	if err != nil {
		panic(err) // strings and finite numbers can always be marshalled
	}
	return string(b)
}

// Type names the flag's value in help texts.
func (l *List) Type() string { return "list" }

// ParseSource splits the source of a command line into the name of the filter and the source: words=URL.
// Without a name the filter has the name of the publication.
func ParseSource(arg string) (filter, source string) {
	name, rest, ok := strings.Cut(arg, "=")
	if !ok || name == "" || rest == "" || strings.ContainsAny(name, "/:?") {
		return "", arg
	}
	return name, rest
}
