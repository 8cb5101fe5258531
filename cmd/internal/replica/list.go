package replica

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/share"
	"go.yaml.in/yaml/v3"
)

// Spec is the configuration of a subscription.
type Spec struct {
	Filter    string  `yaml:"filter" json:"filter"`         // name of the filter on the replica; "": that of the publication
	Source    string  `yaml:"source" json:"source"`         // URL or directory of the publication
	PublicKey string  `yaml:"public-key" json:"public-key"` // the key, or a file that contains it
	Zone      int     `yaml:"zone" json:"zone,omitempty"`   // peers of smaller zones are asked first
	Cost      float64 `yaml:"cost" json:"cost,omitempty"`   // within a zone, peers of smaller costs are asked first
	Budget    `yaml:",inline"`
}

// Budget selects a fold class of a publication: see share.Budget. Zeros are no limits.
type Budget struct {
	FPR            float64 `yaml:"fpr" json:"fpr,omitempty"` // false-positive rate that suffices
	StartBytes     uint64  `yaml:"start-bytes" json:"start-bytes,omitempty"`
	BytesPerSecond uint64  `yaml:"bytes-per-second" json:"bytes-per-second,omitempty"`
	Memory         uint64  `yaml:"memory" json:"memory,omitempty"` // bytes of the cells
}

// Share returns the budget for a subscriber.
func (b Budget) Share() share.Budget {
	return share.Budget{Rate: b.FPR, Start: b.StartBytes, BytesPerSecond: b.BytesPerSecond, Memory: b.Memory}
}

// List is a list of subscriptions: a list in the file of settings, and YAML or JSON in a flag or a variable.
type List []Spec

// Set parses a list.
func (l *List) Set(text string) error {
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	d.KnownFields(true)
	var list List
	if err := d.Decode(&list); err != nil && err != io.EOF {
		return fmt.Errorf("want a list such as [{filter: words, source: https://example.org/words, public-key: words.pub}]: %w", err)
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
	for _, s := range l {
		switch {
		case s.Source == "":
			return fmt.Errorf("a subscription has no source, want the URL or the directory of a publication")
		case s.PublicKey == "":
			return fmt.Errorf("the subscription of %s has no public-key, want the key that umbel keygen printed, or a file that contains it", s.Source)
		case len(s.Filter) > engine.MaxName:
			return fmt.Errorf("the subscription of %s: the name has %d bytes, want at most %d", s.Source, len(s.Filter), engine.MaxName)
		case s.Filter != "" && filters[s.Filter]:
			return fmt.Errorf("two subscriptions have the filter %q; give them different names", s.Filter)
		case !(s.FPR >= 0 && s.FPR < 1):
			return fmt.Errorf("the subscription of %s: fpr is %v, want 0 for any rate, or one below 1", s.Source, s.FPR)
		case math.IsNaN(s.Cost):
			return fmt.Errorf("the subscription of %s: the cost is not a number", s.Source)
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
