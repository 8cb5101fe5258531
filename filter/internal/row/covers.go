package row

import "github.com/umbel-filters/umbel/cells"

// Covers reports whether a has all bits of b, which is as large. Where it hasn't, a
// word or two tell, as a rule.
func Covers(a, b cells.Array) bool {
	for i, w := range b.Words {
		if w&^a.Words[i] != 0 {
			return false
		}
	}
	return true
}
