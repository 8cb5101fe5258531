package replica

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/yamltext"
	"github.com/umbel-filters/umbel/share"
	"go.yaml.in/yaml/v3"
)

// Spec is the configuration of a subscription. The names of its keys are those of JSON.
type Spec struct {
	Filter    string  `json:"filter"`         // name of the filter on the replica; "": that of the publication
	Source    string  `json:"source"`         // URL or directory of the publication
	PublicKey string  `json:"public-key"`     // the key, or a file that contains it
	Zone      int     `json:"zone,omitempty"` // peers of smaller zones are tried first
	Cost      float64 `json:"cost,omitempty"` // within a zone, peers of smaller costs are tried first
	// Sparse keeps a Bloom filter with k = 1 as the equivalent sparse filter: see share.SubscriberOptions.Compact.
	Sparse bool `json:"sparse,omitempty"`
	Budget
}

// Budget selects a fold class of a publication: see share.Budget. Zeros are no limits.
type Budget struct {
	FPR            float64 `json:"fpr,omitempty"` // false-positive rate that suffices
	StartBytes     uint64  `json:"start-bytes,omitempty"`
	BytesPerSecond uint64  `json:"bytes-per-second,omitempty"`
	Memory         uint64  `json:"bytes,omitempty"` // bytes of the cells
}

// Share returns the budget for a subscriber.
func (b Budget) Share() share.Budget {
	return share.Budget{Rate: b.FPR, Start: b.StartBytes, BytesPerSecond: b.BytesPerSecond, Memory: b.Memory}
}

// Title names the subscription in errors: by its filter, otherwise by its source without credentials.
func (s Spec) Title() string {
	if s.Filter != "" {
		return fmt.Sprintf("%.80q", s.Filter)
	}
	return fmt.Sprintf("%.80q", withoutCredentials(s.Source))
}

// of is " of " and the title, "" if the subscription has none.
func (s Spec) of() string {
	if s.Filter == "" && s.Source == "" {
		return ""
	}
	return " of " + s.Title()
}

// parseSpec parses an element of a list. If it has an error, the result has what names the subscription.
func parseSpec(item *yaml.Node) (s Spec, err error) {
	if item.Kind != yaml.MappingNode && item.Kind != yaml.AliasNode {
		return s, errors.New("want keys and values such as {source: https://example.org/words, public-key: words.pub}")
	}
	var values map[string]yaml.Node
	if err := item.Decode(&values); err != nil {
		return s, yamltext.Error(err)
	}
	for _, key := range slices.SortedFunc(maps.Keys(values), namesFirst) {
		node, text := values[key], ""
		if node.Decode(&text) != nil {
			return s, fmt.Errorf("%.40s: want a single value", key)
		}
		if err := s.set(key, text); err != nil {
			return s, fmt.Errorf("%.40s: %w", key, err)
		}
	}
	return s, nil
}

// namesFirst orders the keys of a subscription: those that name it in errors come first.
func namesFirst(a, b string) int {
	rank := func(key string) int { return slices.Index([]string{"source", "filter"}, key) }
	if d := rank(b) - rank(a); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// set sets the value of a key. Numbers are written as for the flags of umbel replica.
func (s *Spec) set(key, text string) (err error) {
	switch key {
	case "filter":
		s.Filter = text
	case "source":
		s.Source = text
	case "public-key":
		s.PublicKey = text
	case "zone":
		if s.Zone, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("%.40q is not a whole number", text)
		}
	case "cost":
		if s.Cost, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(s.Cost) || math.IsInf(s.Cost, 0) {
			err = fmt.Errorf("%.40q is not a finite number", text)
		}
	case "sparse":
		if s.Sparse, err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("%.40q is neither true nor false", text)
		}
	case "fpr":
		if text != "0" { // any rate
			err = (*quantity.Rate)(&s.FPR).Set(text)
		}
	case "start-bytes":
		err = (*quantity.Size)(&s.StartBytes).Set(text)
	case "bytes-per-second":
		err = (*quantity.Size)(&s.BytesPerSecond).Set(text)
	case "bytes":
		err = (*quantity.Size)(&s.Memory).Set(text)
	default:
		return errors.New("unknown key; want filter, source, public-key, zone, cost, sparse, fpr, start-bytes, bytes-per-second or bytes")
	}
	return err
}

// check returns an error if the subscription is incomplete.
func (s Spec) check() error {
	switch {
	case s.Source == "":
		return errors.New("source is missing, want the URL or the directory of a publication")
	case s.PublicKey == "":
		return errors.New("public-key is missing, want the key that umbel keygen printed, or a file that contains it")
	case len(s.Filter) > engine.MaxName:
		return fmt.Errorf("filter: the name has %d bytes, want at most %d", len(s.Filter), engine.MaxName)
	}
	return nil
}
