package metrics

import "strings"

// maxLabel is the length of the longest filter name in a label, in bytes.
const maxLabel = 128

// label returns a filter name, which may contain any bytes, as valid text.
func label(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
