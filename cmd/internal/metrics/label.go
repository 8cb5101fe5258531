package metrics

import "strings"

// maxLabel is the longest name of a filter in a label, in bytes.
const maxLabel = 128

// label makes text of a filter's name, which may be any bytes.
func label(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
