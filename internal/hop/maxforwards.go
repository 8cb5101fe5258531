package hop

import (
	"net/http"
	"strconv"
	"strings"
)

// Forwards reports whether Max-Forwards lets a request pass, and decrements it (RFC 9110, section 7.6.2). If it does not, the proxy has to
// answer. The field has a meaning for OPTIONS and TRACE only.
func Forwards(r *http.Request) bool {
	values := r.Header["Max-Forwards"]
	if r.Method != http.MethodOptions && r.Method != http.MethodTrace || len(values) != 1 || strings.Trim(values[0], "0123456789") != "" {
		return true
	}
	n, err := strconv.ParseUint(values[0], 10, 64)
	if err != nil {
		return true // no number, or one that nothing reaches
	}
	if n > 0 {
		r.Header["Max-Forwards"] = []string{strconv.FormatUint(n-1, 10)}
	}
	return n > 0
}
