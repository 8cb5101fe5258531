package node

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
)

// A node answers each command of the transcripts of RedisBloom 8 with the same bytes, in both versions of the
// protocol: BF.*, and the commands for names that its clients use with them.
func TestTranscripts(t *testing.T) {
	for version := 2; version <= 3; version++ {
		t.Run(fmt.Sprintf("RESP%d", version), func(t *testing.T) {
			c := testConfig(t)
			c.Cuckoo = true
			client := resptest.Dial(t, started(t, c).RESP().String())
			if version == 3 {
				client.Do("HELLO", "3")
			}
			path := fmt.Sprintf("../redis/redisbloom/testdata/bf-head-resp%d.txt", version)
			if n := resptest.Replay(t, client, path, resptest.WithoutStrings); n < 150 {
				t.Errorf("%d commands were replayed, want at least 150", n)
			}
		})
	}
}
