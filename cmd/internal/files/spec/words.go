package spec

import (
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// words are the words of a spec of any kind. The other words are parameters of a kind.
var words = []string{"KEYS", "RATE", "BYTES", "HASH", "SEED"}

// ParseWords parses the words of a Redis command: [KEYS n] [RATE p] [BYTES n] [HASH name] [SEED hex]
// [parameter value ...]. It returns an error if kind v does not have a parameter.
func ParseWords(v umbel.Kind, args [][]byte) (s Spec, err error) {
	for pair := range slices.Chunk(args, 2) {
		word := strings.ToUpper(string(pair[0]))
		if len(pair) == 1 {
			return s, sentinel.Errorf(umbel.ErrGoal, "%.64q needs a value", pair[0])
		}
		value := string(pair[1])
		switch word {
		case "KEYS":
			err = (*quantity.Count)(&s.Goal.Keys).Set(value)
		case "RATE":
			err = (*quantity.Rate)(&s.Goal.FPRate).Set(value)
		case "BYTES":
			err = (*quantity.Size)(&s.Goal.Bytes).Set(value)
		case "HASH":
			s.Hash = strings.ToLower(value)
		case "SEED":
			s.Seed = value
		default:
			err = s.addParam(v, strings.ToLower(word), value)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// addParam adds a parameter of kind v.
func (s *Spec) addParam(v umbel.Kind, name, text string) error {
	i := slices.IndexFunc(v.Params, func(d umbel.ParamDoc) bool { return d.Name == name })
	if i < 0 {
		var names []string
		for _, doc := range v.Params {
			names = append(names, doc.Name)
		}
		return sentinel.Errorf(umbel.ErrGoal, "unknown word %.64q, want %s or a parameter of kind %s (%s)",
			name, strings.Join(words, ", "), v.Name, strings.Join(names, ", "))
	}
	n, err := parseParam(v.Params[i], text)
	s.Params = append(s.Params, umbel.Param{Name: name, Value: n})
	return err
}
