package redisbloom

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/glob"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// settings are the values of CONFIG. They are immutable.
type settings struct {
	errorRate float64
	numbers   [len(numberSettings)]int64
}

// numberSettings are the integer settings, in the order of their indices.
var numberSettings = [...]struct {
	name               string
	initial, low, high int64
}{
	initialSize:     {"bf-initial-size", 100, 1, redisbloom.MaxCapacity},
	expansionFactor: {"bf-expansion-factor", 2, 0, redisbloom.MaxExpansion},
	cuckooBucket:    {"cf-bucket-size", 2, 1, 255},
	cuckooSize:      {"cf-initial-size", 1024, 4, redisbloom.MaxCapacity},
	cuckooTries:     {"cf-max-iterations", 20, 1, 65535},
	cuckooExpansion: {"cf-expansion-factor", 1, 0, 32768},
	cuckooFilters:   {"cf-max-expansions", 32, 1, 65536},
}

const (
	initialSize = iota
	expansionFactor
	cuckooBucket
	cuckooSize
	cuckooTries
	cuckooExpansion
	cuckooFilters
)

const errorRateName = "bf-error-rate"

func settingsOf(o Options) *settings {
	s := &settings{errorRate: min(cmp.Or(o.ErrorRate, 0.01), redisbloom.MaxErrorRate)}
	for i, n := range numberSettings {
		s.numbers[i] = n.initial
	}
	if o.Capacity != 0 {
		s.numbers[initialSize] = int64(o.Capacity)
	}
	if o.Expansion != 0 {
		s.numbers[expansionFactor] = int64(o.Expansion)
	}
	return s
}

// reserve returns the options of new filters.
func (s *settings) reserve() redisbloom.Options {
	return redisbloom.Options{
		ErrorRate:  s.errorRate,
		Capacity:   uint64(s.numbers[initialSize]),
		Expansion:  uint32(s.numbers[expansionFactor]),
		NonScaling: s.numbers[expansionFactor] == 0,
	}
}

// Config returns the settings bf-* and cf-* that match a pattern of package glob.
func (m *Module) Config(pattern string) [][2]string {
	s := m.settings.Load()
	var found [][2]string
	add := func(name, value string) {
		if glob.Match(strings.ToLower(pattern), name) {
			found = append(found, [2]string{name, value})
		}
	}
	add(errorRateName, strconv.FormatFloat(s.errorRate, 'g', -1, 64))
	for i, n := range numberSettings {
		if i < cuckooBucket || m.options.Cuckoo {
			add(n.name, strconv.FormatInt(s.numbers[i], 10))
		}
	}
	return found
}

// SetConfig changes a setting until the process ends; the text of the error is RedisBloom's.
// known is false for other names.
func (m *Module) SetConfig(name, value string) (known bool, err error) {
	m.setting.Lock()
	defer m.setting.Unlock()
	s := *m.settings.Load()
	name = strings.ToLower(name)
	if name == errorRateName {
		rate, ok := parseFloat([]byte(value))
		if !ok || !(rate > 0 && rate < 1) {
			return true, outOfRange(name, "(0.000000, 1.000000)")
		}
		s.errorRate = min(rate, redisbloom.MaxErrorRate)
		m.settings.Store(&s)
		return true, nil
	}
	for i, n := range numberSettings {
		if n.name != name || i >= cuckooBucket && !m.options.Cuckoo {
			continue
		}
		v, ok := command.ParseInt([]byte(value))
		if !ok || v < n.low || v > n.high {
			return true, outOfRange(name, fmt.Sprintf("[%d, %d]", n.low, n.high))
		}
		s.numbers[i] = v
		m.settings.Store(&s)
		return true, nil
	}
	return false, nil
}

func outOfRange(name, wanted string) error {
	return textError(fmt.Sprintf("Value for `%s` must be in the range %s", name, wanted))
}
