// Package suggest finds the known words that a mistyped word resembles.
package suggest

import (
	"slices"
	"strings"
)

// Nearest returns the words with the least edit distance to word, at most three, in their order. It returns
// none if they differ in more than a third of the letters of word, rounded up.
func Nearest(word string, words []string) []string {
	var near []string
	least := max(1, (len(word)+2)/3)
	for _, w := range words {
		d := distance(strings.ToLower(word), w)
		if d < least {
			near, least = nil, d
		}
		if d == least {
			near = append(near, w)
		}
	}
	return near[:min(len(near), 3)]
}

// distance returns the least number of bytes to insert, remove or replace, and of neighbors to exchange, to
// make b from a, if no byte is changed twice: Damerau 1964, row by row. It takes O(len(a)·len(b)) steps.
func distance(a, b string) int {
	above, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above, last, row = last, row, above
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], above[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

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
