// Package suggest finds the known words that a mistyped word resembles.
package suggest

import "strings"

// Nearest returns the words with the least edit distance to word, at most three, in their order. It returns
// none if they differ in more than a third of the letters of word, rounded up.
func Nearest(word string, words []string) []string {
	var near []string
	least := max(1, (len(word)+2)/3)
	for _, w := range words {
		d := Distance(strings.ToLower(word), w)
		if d < least {
			near, least = nil, d
		}
		if d == least {
			near = append(near, w)
		}
	}
	return near[:min(len(near), 3)]
}

// Distance returns the least number of bytes to insert, remove or replace to make b from a:
// Levenshtein 1966, row by row. It takes O(len(a)·len(b)) steps.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
