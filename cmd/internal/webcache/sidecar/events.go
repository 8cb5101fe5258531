package sidecar

import "github.com/umbel-filters/umbel/cmd/internal/report/eventlog"

// Events are the events of umbel-cache siblings. docs/siblings.md describes them.
var Events = eventlog.Events{
	"ready":   "ready",
	"stopped": "stopped",

	"the origin can't be reached":            "origin-failed",
	"the answer of the origin is malformed":  "origin-failed",
	"the answer of the origin is incomplete": "origin-incomplete",
	"the origin answers again":               "origin-recovered",
	"fault of an HTTP connection":            "http-error",

	"a sibling is not tried":        "sibling-failed",
	"a sibling is tried again":      "sibling-recovered",
	"there is no cache digest":      "digest-failed",
	"there is a cache digest again": "digest-recovered",

	"publishing failed":                                           "publication-failed",
	"publishing succeeds again":                                   "publication-recovered",
	"old objects of the publication remain":                       "cleanup-failed",
	"no delta leads to the version; subscribers fetch a snapshot": "publication-replaced",
	"a new stream begins, because the last version cannot be read; subscribers fetch a snapshot": "publication-restarted",
	"the head in the store is damaged and is replaced":                                           "publication-repaired",

	"the own cache can't be probed":     "probe-failed",
	"the own cache can be probed again": "probe-recovered",
	"the own cache lost its responses; nothing is published until they are stored again":                "cache-lost",
	"the log of the cache does not exist; until it does, an eviction costs a sibling a request in vain": "log-missing",
}
