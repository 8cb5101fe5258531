package redisbloom

import (
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// Errors with RedisBloom's texts.
const (
	cuckooBadCapacity    = "Bad capacity"
	cuckooCapacityRange  = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
	cuckooInsertCapacity = "Capacity must be in the range [cf-bucket-size * 2, 1073741824]"
	cuckooReserveArity   = "ERR wrong number of arguments for 'cf.reserve' command"
)

// cuckooNumbers are the numeric options of CF.RESERVE.
var cuckooNumbers = [...]struct {
	word, parse, outside string
	low, high            int64
	of                   func(*cuckoo.Options) *uint64
}{
	{"BUCKETSIZE", "Couldn't parse BUCKETSIZE", "BUCKETSIZE: value must be in the range [1, 255]", 1, 255,
		func(o *cuckoo.Options) *uint64 { return &o.Bucket }},
	{"MAXITERATIONS", "Couldn't parse MAXITERATIONS", "MAXITERATIONS: value must be in the range [1, 65535]", 1, 65535,
		func(o *cuckoo.Options) *uint64 { return &o.Tries }},
	{"EXPANSION", "Couldn't parse EXPANSION", "EXPANSION: value must be in the range [0, 32768]", 0, 32768,
		func(o *cuckoo.Options) *uint64 { return &o.Expansion }},
}

// cuckoo returns the default options of CF.* filters.
func (s *settings) cuckoo() cuckoo.Options {
	number := func(i int) uint64 { return uint64(s.numbers[i]) }
	return cuckoo.Options{
		Capacity: number(cuckooSize), Bucket: number(cuckooBucket), Tries: number(cuckooTries),
		Expansion: number(cuckooExpansion), Filters: number(cuckooFilters),
	}
}

// cuckooReserveOptions parses the words after the key of CF.RESERVE. problem is the error reply
// or "".
func cuckooReserveOptions(args [][]byte, o cuckoo.Options) (_ cuckoo.Options, problem string) {
	if len(args)%2 == 0 || len(args) > 7 {
		return o, cuckooReserveArity
	}
	capacity, ok := command.ParseInt(args[0])
	if !ok {
		return o, cuckooBadCapacity
	}
	for _, n := range cuckooNumbers {
		i := wordIn(args[1:], n.word)
		if i < 0 {
			continue
		}
		if i+2 == len(args) {
			return o, n.parse
		}
		v, ok := command.ParseInt(args[i+2])
		switch {
		case !ok:
			return o, n.parse
		case v < n.low || v > n.high:
			return o, n.outside
		}
		*n.of(&o) = uint64(v)
	}
	if capacity < 2*int64(o.Bucket) || capacity > redisbloom.MaxCapacity {
		return o, cuckooCapacityRange
	}
	o.Capacity = uint64(capacity)
	return o, ""
}

// cuckooInsertion contains the options of CF.INSERT.
type cuckooInsertion struct {
	cuckoo.Options
	noCreate bool
	items    int // index of the first item in the arguments
}

// cuckooInsertOptions parses the words after the key of CF.INSERT. problem is the error reply or
// "".
func cuckooInsertOptions(args [][]byte, s *settings, name string) (o cuckooInsertion, problem string) {
	o.Options = s.cuckoo()
	arity := "ERR wrong number of arguments for '" + name + "' command"
	for i := 0; i < len(args); i++ {
		switch word := args[i]; {
		case begins(word, "I"):
			if o.items = i + 1; o.items == len(args) {
				return o, arity
			}
			return o, ""
		case begins(word, "N"):
			o.noCreate = true
		case begins(word, "C"):
			if i++; i == len(args) {
				return o, arity
			}
			n, ok := command.ParseInt(args[i])
			switch {
			case !ok:
				return o, cuckooBadCapacity
			case n < 2*int64(o.Bucket) || n > redisbloom.MaxCapacity:
				return o, cuckooInsertCapacity
			}
			o.Capacity = uint64(n)
		default:
			return o, unknownArgument
		}
	}
	return o, arity
}
