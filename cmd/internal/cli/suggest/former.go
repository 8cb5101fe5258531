package suggest

import "slices"

// former are the names that flags and settings had in earlier versions of the programs, with those that they have now. A word
// that meant several things has several.
var former = map[string][]string{
	"bits": {"bits-per-object"}, "cache": {"cache-url"}, "changes": {"churn"}, "file": {"users"}, "hash": {"default-hash"}, "k": {"draws"},
	"key": {"publication-key"}, "largest": {"largest-body"}, "memory": {"max-memory", "store-memory", "bytes"}, "peer": {"squid-peer"},
	"rate": {"packet-rate", "resp-rate", "fpr"}, "receivers": {"receivers-per-tree"}, "scheme": {"site-scheme"}, "seed": {"random"},
	"size": {"bytes"}, "source": {"sender"}, "stale": {"stale-for"}, "strict": {"all-or-none"}, "timeout": {"transfer-timeout"},
	"token-file": {"secret-file"}, "weights": {"weights-log", "frequencies"}, "window": {"in-flight"},
}

// Renamed returns which of the names a flag or a setting has that was word in earlier versions, and "" if there is none.
func Renamed(word string, names []string) string {
	for _, now := range former[word] {
		if slices.Contains(names, now) {
			return now
		}
	}
	return ""
}
