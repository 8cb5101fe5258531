package redisbloom_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/resptest"
)

// Every command of BF.* that RedisBloom 8 was asked has the same reply here, in both
// versions of the protocol, byte for byte. A string in the place of a filter is one of CF.*
// here, which is as foreign to BF.*.
func TestReplies(t *testing.T) {
	others := []string{"TYPE", "OBJECT", "EXISTS", "DUMP", "MEMORY", "EXPIRE", "TTL", "PERSIST", "COPY", "RENAME", "SCAN", "DEL"}
	for _, version := range []string{"2", "3"} {
		t.Run("RESP"+version, func(t *testing.T) {
			p := start(t, 0, redisbloom.Options{Cuckoo: true})
			if version == "3" {
				p.Do("HELLO", "3")
			}
			n := resptest.Replay(t, p.Client, fmt.Sprintf("testdata/bf-head-resp%s.txt", version), func(e resptest.Exchange) (resptest.Exchange, bool) {
				switch {
				case slices.Contains(others, e.Words[0]), slices.Contains(e.Words, "arenamed"), slices.Contains(e.Words, "afterexpire"):
					return e, false
				case e.Words[0] == "SET":
					e.Words = []string{"CF.RESERVE", "str", "1000"}
				}
				return e, true
			})
			if n < 150 {
				t.Errorf("%d commands were read, want 150", n)
			}
		})
	}
}
