package siblings

import "net/url"

// DenyQuery returns a function for Options.Deny that excludes URLs whose query has a parameter with one of the names, and
// URLs whose query can't be parsed.
func DenyQuery(names []string) func(*url.URL) bool {
	return func(u *url.URL) bool {
		if u.RawQuery == "" || len(names) == 0 {
			return false
		}
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return true
		}
		for _, name := range names {
			if query.Has(name) {
				return true
			}
		}
		return false
	}
}
