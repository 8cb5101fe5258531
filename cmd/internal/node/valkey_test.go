package node

import (
	"strings"
	"testing"
)

// The differences from valkey-bloom that docs/node-redisbloom.md states.
func TestUnlikeValkeyBloom(t *testing.T) {
	c := testConfig(t)
	c.Cuckoo = true
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("BF.RESERVE b 0.01 100", "+OK")
	r.Want("CF.RESERVE c 1000", "+OK")
	for line, want := range map[string]string{
		"BF.INFO b CAPACITY":               "*1[:100]",
		"BF.INFO b ERROR":                  "-Invalid information value",
		"BF.INFO b TIGHTENING":             "-Invalid information value",
		"BF.INFO b MAXSCALEDCAPACITY":      "-Invalid information value",
		"BF.LOAD b x":                      "-ERR unknown command 'BF.LOAD'",
		"COPY b b2":                        "-ERR",
		"COPY c c2":                        "-ERR",
		"UM.COPY b b3":                     "+OK",
		"TYPE b":                           "+MBbloom--",
		"CF.INFO c Size":                   "-ERR wrong number of arguments for 'cf.info' command",
		"CF.LOAD c x":                      "-ERR unknown command 'CF.LOAD'",
		"CF.INSERT n BUCKETSIZE 4 ITEMS a": "-Unknown argument received",
		"EVAL x 0":                         "-ERR unknown command 'EVAL'",
		"SUBSCRIBE x":                      "-ERR unknown command 'SUBSCRIBE'",
		"CONFIG GET bf.*":                  "*0[]",
		"CONFIG GET maxmemory-policy":      "*2[$16:\"maxmemory-policy\", $10:\"noeviction\"]",
	} {
		if got := r.Line(line); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
