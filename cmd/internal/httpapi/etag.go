package httpapi

import (
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel/wire"
)

// etagOf returns the strong entity tag of a filter's container: its ID, and the form if it
// isn't the canonical one.
func etagOf(id wire.ID, form string) string {
	if form == "" {
		return `"` + id.String() + `"`
	}
	return `"` + id.String() + "-" + form + `"`
}

// headerHas reports whether a list of entity tags has one, strong or weak, or is *.
func headerHas(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimPrefix(strings.TrimSpace(t), "W/"); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// matches reports whether one of the entity tags of a header is that of a filter with this
// ID, in whatever form. Weak ones never are.
func matches(header string, id wire.ID) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || tag == etagOf(id, "") || tag == etagOf(id, packed) {
			return true
		}
	}
	return false
}

// onlyNew reports whether a request is to make a filter only where there is none.
func onlyNew(r *http.Request) (bool, error) {
	switch r.Header.Get("If-None-Match") {
	case "":
		return false, nil
	case "*":
		return true, nil
	}
	return false, problemf(badRequest, "If-None-Match of a PUT may be * only, for a filter that isn't there yet")
}
