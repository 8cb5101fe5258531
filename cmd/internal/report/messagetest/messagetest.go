// Package messagetest checks the texts of errors that users see: over RESP, over HTTP and of the command.
package messagetest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// goNames matches names of the Go library. Users of the server and of the command cannot call them.
var goNames = regexp.MustCompile(`\b(Add|TryAdd|Has|HasAll|Remove|Merge|Fold|Unfold|Advance|Seal|New|Open|OpenCounting|` +
	`NewShape|NewCountingShape|MaxBytes|Width|PublishSeed|Hasher)\b`)

// Fault returns what is wrong with an error's text, "" if nothing: it has several lines, repeats a prefix, or
// advises to call a function of the Go library.
func Fault(text string) string {
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		return fmt.Sprintf("the message has the control character %q", text[i])
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ": ") {
		if seen[part] && strings.Trim(part, "0123456789 ") != "" {
			return fmt.Sprintf("the message repeats %q", part)
		}
		seen[part] = true
	}
	if name := goNames.FindString(text); name != "" {
		return fmt.Sprintf("the message has the Go name %s", name)
	}
	return ""
}
