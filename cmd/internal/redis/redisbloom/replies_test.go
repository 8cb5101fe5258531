package redisbloom_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
)

// Every command of BF.* in the transcripts of RedisBloom 8 has the same reply here, in both
// versions of the protocol, byte for byte. A test of package node has the commands for names.
func TestReplies(t *testing.T) {
	others := []string{"TYPE", "OBJECT", "EXISTS", "DUMP", "MEMORY", "EXPIRE", "TTL", "PERSIST", "COPY", "RENAME", "SCAN", "DEL"}
	for _, version := range []string{"2", "3"} {
		t.Run("RESP"+version, func(t *testing.T) {
			p := start(t, 0, redisbloom.Options{Cuckoo: true})
			if version == "3" {
				p.Do("HELLO", "3")
			}
			n := resptest.Replay(t, p.Client, fmt.Sprintf("testdata/bf-head-resp%s.txt", version), func(e resptest.Exchange) (resptest.Exchange, bool) {
				if slices.Contains(others, e.Words[0]) || slices.Contains(e.Words, "arenamed") || slices.Contains(e.Words, "afterexpire") {
					return e, false
				}
				return resptest.WithoutStrings(e)
			})
			if n < 150 {
				t.Errorf("%d commands were read, want 150", n)
			}
		})
	}
}
