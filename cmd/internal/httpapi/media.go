package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Media types that requests and answers have.
const (
	mediaJSON      = "application/json"
	mediaLines     = "application/x-ndjson"
	mediaText      = "text/plain"
	mediaDigests   = "application/octet-stream"
	mediaContainer = "application/vnd.umbel.container"
	mediaDelta     = "application/vnd.umbel.delta"
	mediaProblem   = "application/problem+json"
	mediaMerge     = "application/merge-patch+json"
)

// packed is the value of a container's parameter "form" for the one of the fewest bytes.
const packed = "packed"

// bodyType returns the media type of a request's body, which must be one of want. A
// request that has none is taken for the first.
func bodyType(r *http.Request, want ...string) (string, error) {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return want[0], nil
	}
	media, _, err := mime.ParseMediaType(text)
	if err != nil || !slices.Contains(want, media) {
		return "", problemf(mediaType, "the body is %q, want %s", text, strings.Join(want, ", "))
	}
	return media, nil
}

// wanted is a form in which a client takes an answer.
type wanted struct {
	media, form string
	quality     float64
}

// accepted returns which of the offers, the first of which is the default, the client
// likes best, and the parameter "form" that it gave with it.
func accepted(r *http.Request, offers ...string) (media, form string, err error) {
	text := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(text) == "" {
		return offers[0], "", nil
	}
	var best wanted
	for item := range strings.SplitSeq(text, ",") {
		w, ok := parseWanted(item)
		if !ok {
			continue
		}
		for _, offer := range offers {
			if covers(w.media, offer) && w.quality > best.quality {
				best = wanted{offer, w.form, w.quality}
				break
			}
		}
	}
	if best.quality == 0 {
		return "", "", problemf(notAcceptable, "Accept is %q, and there is %s", text, strings.Join(offers, ", "))
	}
	return best.media, best.form, nil
}

func parseWanted(item string) (wanted, bool) {
	media, params, err := mime.ParseMediaType(item)
	if err != nil {
		return wanted{}, false
	}
	w := wanted{media: media, form: params["form"], quality: 1}
	if q, given := params["q"]; given {
		w.quality, err = strconv.ParseFloat(q, 64)
	}
	return w, err == nil
}

// covers reports whether a media range, such as application/*, has a media type in it.
func covers(span, media string) bool {
	if before, ok := strings.CutSuffix(span, "/*"); ok {
		return before == "*" || strings.HasPrefix(media, before+"/")
	}
	return span == media
}

// prefersMinimal reports whether the client wants as little as possible for an answer: RFC 7240.
func prefersMinimal(r *http.Request) bool {
	for _, line := range r.Header.Values("Prefer") {
		for item := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.ReplaceAll(strings.TrimSpace(item), `"`, ""), "return=minimal") {
				return true
			}
		}
	}
	return false
}
