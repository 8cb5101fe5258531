package httpapi

import (
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/wire"
)

// bodyType returns the media type of a request's body, which must be one of want; the first is
// the default. The body of a text is UTF-8, which includes US-ASCII.
func bodyType(r *http.Request, want ...string) (string, error) {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return want[0], nil
	}
	media, params, err := mime.ParseMediaType(text)
	if err != nil || !slices.Contains(want, media) {
		return "", problemf(mediaType, "media type of the body is %q, want %s", text, strings.Join(want, ", "))
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return "", problemf(mediaType, "the charset of the body is %q, want utf-8", api.Clip(charset))
	}
	return media, nil
}

// identity is the only encoding of bodies that the server reads.
const identity = "identity"

var errEncoded = errors.New("the body must not be compressed or otherwise encoded")

// checkEncoding returns an error if the body has a Content-Encoding: its bytes would be taken for
// keys. RFC 9110, section 15.5.16.
func checkEncoding(r *http.Request) error {
	for _, coding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(coding), identity) {
			return problemf(mediaType, "Content-Encoding is %q: %w", api.Clip(coding), errEncoded)
		}
	}
	return nil
}

// acceptItem is one media range of an Accept header.
type acceptItem struct {
	media, form string
	quality     float64
}

// negotiate returns the offer that the client prefers, and the parameter "form" of its media
// range. The first offer is the default.
func negotiate(r *http.Request, offers ...string) (media, form string, err error) {
	text := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(text) == "" {
		return offers[0], "", nil
	}
	var best acceptItem
	for item := range strings.SplitSeq(text, ",") {
		w, ok := parseAcceptItem(item)
		if !ok {
			continue
		}
		for _, offer := range offers {
			if covers(w.media, offer) && w.quality > best.quality {
				best = acceptItem{offer, w.form, w.quality}
				break
			}
		}
	}
	if best.quality == 0 {
		return "", "", problemf(notAcceptable, "Accept is %q, available: %s", text, strings.Join(offers, ", "))
	}
	return best.media, best.form, nil
}

func parseAcceptItem(item string) (acceptItem, bool) {
	media, params, err := mime.ParseMediaType(item)
	if err != nil {
		return acceptItem{}, false
	}
	w := acceptItem{media: media, form: params["form"], quality: 1}
	if q, given := params["q"]; given {
		w.quality, err = strconv.ParseFloat(q, 64)
	}
	return w, err == nil
}

// covers reports whether a media range, such as application/*, includes a media type.
func covers(span, media string) bool {
	if before, ok := strings.CutSuffix(span, "/*"); ok {
		return before == "*" || strings.HasPrefix(media, before+"/")
	}
	return span == media
}

// prefersMinimal reports whether the client prefers a minimal response: RFC 7240.
func prefersMinimal(r *http.Request) bool {
	value := preference(r, "return")
	return strings.EqualFold(value, "minimal")
}

// maxWait is the longest time for which a client can make a change wait.
const maxWait = time.Minute

// preferredWait returns the time for which the client prefers to wait for the disk, at most maxWait: the preference
// wait of RFC 7240, a number of seconds. It is 0 without one, and if it is no number.
func preferredWait(r *http.Request) time.Duration {
	value := preference(r, "wait")
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxWait)
}

// preference returns the value of the client's first preference with this name, "" if it has none: RFC 7240.
func preference(r *http.Request, name string) string {
	for _, line := range r.Header.Values("Prefer") {
		for item := range strings.SplitSeq(line, ",") {
			item, _, _ = strings.Cut(item, ";") // parameters
			key, value, _ := strings.Cut(strings.ReplaceAll(item, `"`, ""), "=")
			if strings.EqualFold(strings.TrimSpace(key), name) {
				return strings.TrimSpace(value)
			}
		}
	}
	return ""
}

// etagOf returns the strong entity tag of a container: the filter's ID, and the form unless it is
// canonical.
func etagOf(id wire.ID, form string) string {
	if form == "" {
		return `"` + id.String() + `"`
	}
	return `"` + id.String() + "-" + form + `"`
}

// headerHas reports whether a list of entity tags is * or contains the tag, strong or weak.
func headerHas(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimPrefix(strings.TrimSpace(t), "W/"); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// matches reports whether a list of entity tags is * or contains that of a filter with this ID,
// in any form. Weak tags never match.
func matches(header string, id wire.ID) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || tag == etagOf(id, "") || tag == etagOf(id, api.FormPacked) {
			return true
		}
	}
	return false
}

// onlyNew reports whether the request must not replace an existing filter.
func onlyNew(r *http.Request) (bool, error) {
	switch r.Header.Get("If-None-Match") {
	case "":
		return false, nil
	case "*":
		return true, nil
	}
	return false, problemf(badRequest, "If-None-Match of a PUT must be *, which means that the filter must not exist")
}
