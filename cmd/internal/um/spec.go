package um

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// defaultRate is the rate of a filter if only KEYS is given.
const defaultRate = 0.01

// spec is the specification of a new filter.
type spec struct {
	goal   umbel.Goal
	params umbel.Params
	nx     bool
}

// words are the words of every specification. The other words are parameters of a kind.
var words = []string{"KEYS", "RATE", "BYTES", "HASH", "SEED", "NX"}

// parseSpec parses [KEYS n] [RATE p] [BYTES n] [HASH h] [SEED hex] [NX] [parameter value ...].
func (u *um) parseSpec(v umbel.Kind, args [][]byte) (w spec, err error) {
	hash, seed := "", ""
	for len(args) > 0 && err == nil {
		word := string(args[0])
		args = args[1:]
		if strings.EqualFold(word, "NX") {
			w.nx = true
			continue
		}
		if len(args) == 0 {
			return w, fmt.Errorf("%s needs a value: %w", command.Quote([]byte(word)), umbel.ErrGoal)
		}
		value := string(args[0])
		args = args[1:]
		switch strings.ToUpper(word) {
		case "KEYS":
			err = (*quantity.Count)(&w.goal.Keys).Set(value)
		case "RATE":
			err = (*quantity.Rate)(&w.goal.FPRate).Set(value)
		case "BYTES":
			err = (*quantity.Size)(&w.goal.Bytes).Set(value)
		case "HASH":
			hash = value
		case "SEED":
			seed = value
		default:
			var p umbel.Param
			p, err = param(v, strings.ToLower(word), value)
			w.params = append(w.params, p)
		}
	}
	if err != nil {
		return w, err
	}
	if w.goal.Hasher, err = u.hasher(v.Name, hash, seed); err != nil {
		return w, err
	}
	return w.withDefaults(v), v.Check(w.params)
}

// param parses a parameter of a kind.
func param(v umbel.Kind, name, value string) (umbel.Param, error) {
	var names []string
	for _, doc := range v.Params {
		if doc.Name == name && doc.Float {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return umbel.Param{}, fmt.Errorf("%s %s: want a number: %w", name, command.Quote([]byte(value)), umbel.ErrGoal)
			}
			return umbel.Param{Name: name, Value: umbel.Float(f)}, nil
		}
		if doc.Name == name {
			n, err := quantity.ParseCount(value)
			return umbel.Param{Name: name, Value: umbel.Uint(uint64(n))}, err
		}
		names = append(names, doc.Name)
	}
	return umbel.Param{}, fmt.Errorf("unknown word %s, want %s or a parameter of kind %s (%s): %w",
		command.Quote([]byte(name)), strings.Join(words, ", "), v.Name, strings.Join(names, ", "), umbel.ErrGoal)
}

// hasher returns the hasher of a new filter. The server's algorithm keeps the server's seed, so
// that filters can be merged; SipHash otherwise gets a random seed.
func (u *um) hasher(kind, hash, seed string) (umbel.Hasher, error) {
	h := u.options.Hasher
	if kind == redisbloom.Name && h == (umbel.Hasher{}) {
		h = redisbloom.RedisHasher
	}
	if hash != "" {
		a, err := umbel.ParseAlg(strings.ToLower(hash))
		if err != nil {
			return h, err
		}
		if a != h.Alg {
			h = umbel.Hasher{Alg: a}
		}
	}
	if seed == "" && h.Alg == umbel.SipHash && h.Seed == (umbel.Seed{}) {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return h, err
		}
		h.Seed = umbel.SeedFrom(b)
	}
	if seed != "" {
		s, err := umbel.ParseSeed(seed)
		if err != nil {
			return h, err
		}
		h.Seed = s
	}
	if err := h.Check(); err != nil {
		return h, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
	}
	return h, nil
}

// withDefaults returns w with the default rate if only KEYS is given.
func (w spec) withDefaults(v umbel.Kind) spec {
	if w.goal.Keys == 0 || w.goal.FPRate != 0 || w.goal.Bytes != 0 {
		return w
	}
	if _, err := v.Plan(w.goal, w.params); err != nil {
		w.goal.FPRate = defaultRate
	}
	return w
}
