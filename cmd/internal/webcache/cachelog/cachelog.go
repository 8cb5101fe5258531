// Package cachelog reads from the logs of caches which responses they removed, for package siblings: without such a
// hint an eviction is noticed by the next request for the response only.
package cachelog

import (
	"strconv"
	"strings"
)

// Squid returns the URL of a response that Squid has removed from its disk, by a line of its store log (cache_store_log), and
// false for other lines. Its fields are separated by spaces:
//
//	time action dir file hash status date lastmod expires type length/size method URL
//
// The action of a removal is RELEASE. Responses that were never kept have it as well, with -1 as the directory, and the log
// does not contain those that were kept in memory only.
func Squid(line string) (url string, ok bool) {
	f := strings.Fields(line)
	if len(f) != 13 || f[1] != "RELEASE" || f[2] == "-1" || f[11] != "GET" || !strings.Contains(f[12], "://") {
		return "", false
	}
	return f[12], true
}

// Varnish returns the number of the request with which Varnish fetched a response that it has removed, by a line of
//
//	varnishlog -u -g raw -i ExpKill
//
// and false for other lines. Its records of removals are "LRU xid=N", "LRU x=N", "EXP_Removed x=N …" and "EXP_Expired x=N …".
// Varnish sends the number to its backend as the header X-Varnish. It logs them with the parameter vsl_mask=+ExpKill only.
func Varnish(line string) (number uint64, ok bool) {
	_, record, found := strings.Cut(line, " ExpKill ")
	if !found {
		return 0, false
	}
	fields := strings.Fields(record)
	removed := false
	for _, f := range fields {
		switch f {
		case "LRU", "EXP_Removed", "EXP_Expired":
			removed = true
		}
		name, digits, _ := strings.Cut(f, "=")
		if removed && (name == "x" || name == "xid") {
			n, err := strconv.ParseUint(digits, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
