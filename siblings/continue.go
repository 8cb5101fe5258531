package siblings

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// rest requests the bytes from n on of a response that broke off from the origin. It returns nil if the origin does not answer with exactly
// these: equal strong tags mean equal bytes (RFC 9110, section 8.8.1), also if one came from a cache, and the request selects the same variant.
func (t transport) rest(r *http.Request, begun http.Header, length, n int64) io.ReadCloser {
	tag := begun.Get("Etag")
	if !strings.HasPrefix(tag, `"`) || r.Method != http.MethodGet {
		return nil
	}
	out := r.Clone(untraced{r.Context()})
	out.Header.Set("Range", fmt.Sprintf("bytes=%d-", n))
	out.Header.Set("If-Range", tag)
	res, err := t.origin.RoundTrip(out)
	if err != nil {
		return nil
	}
	t.mesh.counters.origin.Add(1)
	h := res.Header
	if res.StatusCode != http.StatusPartialContent || h.Get("Etag") != tag || h.Get("Content-Encoding") != begun.Get("Content-Encoding") || !isRest(h, n, length) {
		res.Body.Close()
		return nil
	}
	return res.Body
}

// isRest reports whether a response with header h has the bytes from n on of a whole. The length is that of the whole, -1 if it is unknown.
func isRest(h http.Header, n, length int64) bool {
	var first, last, whole int64
	text := h.Get("Content-Range")
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &whole); err != nil {
		return false
	}
	return text == fmt.Sprintf("bytes %d-%d/%d", first, last, whole) && first == n && last == whole-1 && (length < 0 || whole == length)
}
