// Package suggest finds the known words that a mistyped word resembles.
package suggest

import "strings"

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
