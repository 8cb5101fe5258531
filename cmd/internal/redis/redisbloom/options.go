package redisbloom

import (
	"bytes"
	"crypto/sha256"

	"github.com/umbel-filters/umbel/cmd/internal/redis/command"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// Errors with RedisBloom's texts.
const (
	badErrorRate    = "ERR bad error rate"
	errorRateRange  = "ERR error rate must be in the range (0.000000, 1.000000)"
	badCapacity     = "ERR bad capacity"
	capacityRange   = "ERR capacity must be in the range [1, 1073741824]"
	noExpansion     = "ERR no expansion"
	badExpansion    = "ERR bad expansion"
	expansionRange  = "ERR expansion must be in the range [0, 32768]"
	cannotExpand    = "Nonscaling filters cannot expand"
	insertCapacity  = "Bad capacity"
	insertErrorRate = "Bad error rate"
	insertExpansion = "Bad expansion"
	unknownArgument = "Unknown argument received"
	insertArity     = "ERR wrong number of arguments for 'bf.insert' command"
	reserveArity    = "ERR wrong number of arguments for 'bf.reserve' command"
)

// Errors with valkey-bloom's texts, for options that RedisBloom does not have.
const (
	invalidSeed     = "ERR invalid seed"
	badTightening   = "ERR bad tightening ratio"
	tighteningRange = "ERR (0 < tightening ratio range < 1)"
	otherTightening = "ERR tightening ratio must be 0.5: filters of RedisBloom's layout have no other"
	scaleNonScaling = "ERR cannot use NONSCALING and VALIDATESCALETO options together"
	scaleDegrades   = "ERR provided VALIDATESCALETO causes false positive to degrade to 0"
)

// reserveOptions parses the words after the key of BF.RESERVE: error rate, capacity, and
// EXPANSION e and NONSCALING anywhere. Other words are ignored. An expansion of 0 means NONSCALING; the
// dump contains it. problem is the error reply or "".
func reserveOptions(args [][]byte) (o redisbloom.Options, problem string) {
	rate, ok := parseFloat(args[0])
	if !ok {
		return o, badErrorRate
	}
	if !(rate > 0 && rate < 1) {
		return o, errorRateRange
	}
	capacity, ok := command.ParseInt(args[1])
	if !ok {
		return o, badCapacity
	}
	if capacity < 1 || capacity > redisbloom.MaxCapacity {
		return o, capacityRange
	}
	o = redisbloom.Options{ErrorRate: rate, Capacity: uint64(capacity), Expansion: redisbloom.DefaultExpansion}
	more := args[2:]
	o.NonScaling = wordIn(more, "NONSCALING") >= 0
	if i := wordIn(more, "EXPANSION"); i >= 0 {
		if i+1 == len(more) {
			return o, noExpansion
		}
		expansion, ok := command.ParseInt(more[i+1])
		switch {
		case !ok:
			return o, badExpansion
		case expansion != 0 && o.NonScaling:
			return o, cannotExpand
		case expansion < 0 || expansion > redisbloom.MaxExpansion:
			return o, expansionRange
		}
		o.Expansion = uint32(expansion)
		o.NonScaling = o.NonScaling || expansion == 0
	}
	return o, ""
}

// insertion contains the options of BF.INSERT.
type insertion struct {
	redisbloom.Options
	hasher   umbel.Hasher
	fixed    bool // NONSCALING
	noCreate bool
	scaleTo  uint64 // keys to which a new filter must be able to grow; 0: not requested
	items    int    // index of the first item in the arguments
}

// insertOptions parses the words after the key of BF.INSERT; defaults are those of new filters. As in
// RedisBloom, only some letters of its options count: c, er, e, n and i at the beginning, and of those that
// begin with n the third, which is c for NOCREATE. The options of
// valkey-bloom must be complete:
//
//   - SEED, 32 bytes, selects SipHash with the first 16 bytes of the seed's SHA-256 as key. Clients
//     that don't know the seed cannot choose colliding keys. Servers with the same seed make filters
//     that can be merged. (RedisBloom's hash has no seed, and the bits differ from valkey-bloom's.)
//   - TIGHTENING must be 0.5.
//   - VALIDATESCALETO refuses a filter that could not grow to that number of keys, because of the
//     memory limit or because an error rate would become 0.
//
// With one of these options the items may be omitted. problem is the error reply or "".
func insertOptions(args [][]byte, defaults redisbloom.Options, h umbel.Hasher) (o insertion, problem string) {
	o = insertion{Options: defaults, hasher: h}
	valkey := false
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case begins(word, "I"):
			if o.items = i + 1; o.items == len(args) {
				return o, insertArity
			}
			return o, o.check()
		case begins(word, "N"):
			if len(word) > 2 && (word[2] == 'c' || word[2] == 'C') {
				o.noCreate = true
			} else {
				o.fixed = true
			}
			continue
		}
		var read func([]byte) string
		switch {
		case begins(word, "C"):
			read = o.capacity
		case begins(word, "ER"):
			read = o.errorRate
		case begins(word, "E"):
			read = o.expansion
		case command.Is(word, "SEED"):
			valkey, read = true, o.seed
		case command.Is(word, "TIGHTENING"):
			valkey, read = true, tightening
		case command.Is(word, "VALIDATESCALETO"):
			valkey, read = true, o.validateScaleTo
		default:
			return o, unknownArgument
		}
		if i++; i == len(args) {
			return o, insertArity
		}
		if problem = read(args[i]); problem != "" {
			return o, problem
		}
	}
	if !valkey {
		return o, insertArity
	}
	o.items = len(args)
	return o, o.check()
}

func (o *insertion) capacity(b []byte) string {
	n, ok := command.ParseInt(b)
	if !ok || n < 1 || n > redisbloom.MaxCapacity {
		return insertCapacity
	}
	o.Capacity = uint64(n)
	return ""
}

func (o *insertion) errorRate(b []byte) string {
	rate, ok := parseFloat(b)
	if !ok || !(rate > 0 && rate < 1) {
		return insertErrorRate
	}
	o.ErrorRate = rate
	return ""
}

func (o *insertion) expansion(b []byte) string {
	n, ok := command.ParseInt(b)
	if !ok || n < 0 || n > redisbloom.MaxExpansion {
		return insertExpansion
	}
	o.Expansion = uint32(n)
	return ""
}

func (o *insertion) seed(b []byte) string {
	if len(b) != 32 {
		return invalidSeed
	}
	sum := sha256.Sum256(b)
	o.hasher = umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte(sum[:16]))}
	return ""
}

func tightening(b []byte) string {
	switch ratio, ok := parseFloat(b); {
	case !ok:
		return badTightening
	case !(ratio > 0 && ratio < 1):
		return tighteningRange
	case ratio != 0.5:
		return otherTightening
	}
	return ""
}

func (o *insertion) validateScaleTo(b []byte) string {
	n, ok := command.ParseInt(b)
	if !ok || n < 1 {
		return badCapacity
	}
	o.scaleTo = uint64(n)
	return ""
}

// check completes the options and returns the error of their combination, or "".
func (o *insertion) check() string {
	o.NonScaling = o.fixed || o.Expansion == 0
	switch {
	case o.scaleTo == 0:
		return ""
	case o.NonScaling:
		return scaleNonScaling
	case degrades(o.Options, o.scaleTo):
		return scaleDegrades
	}
	return ""
}

// degrades reports whether a filter would get a layer with error rate 0 before it contains n
// keys.
func degrades(o redisbloom.Options, n uint64) bool {
	total, capacity, rate := 0.0, float64(o.Capacity), min(o.ErrorRate, redisbloom.MaxErrorRate)
	for total < float64(n) {
		if rate /= 2; rate == 0 {
			return true
		}
		total += capacity
		capacity *= float64(o.Expansion)
	}
	return false
}

// wordIn returns the index of a word, ignoring case, or -1.
func wordIn(words [][]byte, word string) int {
	for i, w := range words {
		if command.Is(w, word) {
			return i
		}
	}
	return -1
}

// begins reports whether b begins with the letters, ignoring case.
func begins(b []byte, letters string) bool {
	return len(b) >= len(letters) && bytes.EqualFold(b[:len(letters)], []byte(letters))
}
