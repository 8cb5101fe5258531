package substituter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// narinfo replies with the narinfo of a path, from the first upstream that has it. It replies with status 404 only if
// every upstream does not have the path: by a current summary, by its own reply, or because it is a sibling that
// is not reachable.
func (s *Server) narinfo(w http.ResponseWriter, r *http.Request, name string) {
	q, err := parsePath(strings.TrimSuffix(name, narinfoSuffix))
	if err != nil {
		refuse(w, http.StatusNotFound)
		return
	}
	candidates, answers := s.candidates(q)
	if len(candidates) == 0 {
		s.counters.absent.Add(1)
		refuse(w, http.StatusNotFound)
		return
	}
	if !s.enter(w, r) {
		return
	}
	defer s.leave()
	unreachable := false
	for i, u := range candidates {
		u.requested.Add(1)
		body, nar, err := u.narinfo(r.Context(), q)
		switch {
		case err == nil:
			u.found.Add(1)
			s.counters.found.Add(1)
			s.places.put(nar, u)
			w.Header().Set("Content-Type", "text/x-nix-narinfo")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			if r.Method != http.MethodHead {
				w.Write(body)
			}
			return
		case r.Context().Err() != nil:
			return
		case errors.Is(err, errAbsent):
			u.note(answers[i])
		default:
			unreachable = unreachable || !u.Sibling
		}
	}
	if unreachable {
		s.counters.unreachable.Add(1)
		refuse(w, http.StatusServiceUnavailable)
		return
	}
	s.counters.missing.Add(1)
	refuse(w, http.StatusNotFound)
}

// candidates returns the upstreams that may have a path, in their order, with the answers of their summaries. It
// allocates nothing if there are none.
func (s *Server) candidates(q Path) (list []*upstream, answers []Answer) {
	for _, u := range s.upstreams {
		a := u.has(q)
		if a == Absent {
			u.skipped.Add(1)
			continue
		}
		list, answers = append(list, u), append(answers, a)
	}
	return list, answers
}

// note counts a path that the upstream did not have.
func (u *upstream) note(a Answer) {
	if a == Maybe {
		u.missed.Add(1)
	} else {
		u.unknown.Add(1)
	}
}
