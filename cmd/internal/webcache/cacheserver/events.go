package cacheserver

import (
	"maps"

	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/sidecar"
)

// Events are the events of umbel-cache serve, with those of siblings. docs/cache.md describes them.
var Events = func() eventlog.Events {
	all := maps.Clone(sidecar.Events)
	maps.Copy(all, own)
	return all
}()

// own are the events of a cache without siblings.
var own = eventlog.Events{
	"ready":             "ready",
	"status":            "status",
	"shutdown complete": "stopped",

	"origin is unreachable":                           "origin-failed",
	"origin is unreachable; a stale response is used": "origin-failed",
	"requests to the origin failed until the end":     "origin-failed",
	"requests to other origins failed until the end":  "origin-failed",
	"origin answers again":                            "origin-recovered",
	"the answer of the origin is incomplete":          "origin-incomplete",
	"fault of an HTTP connection":                     "http-error",
	"tls handshake failed":                            "tls-failed",

	"could not store a response":                    "store-failed",
	"responses were not stored until the end":       "store-failed",
	"responses are stored again":                    "store-recovered",
	"a stored response was damaged, and is removed": "store-damaged",
	"could not read all stored responses":           "store-unread",

	"certificate reloaded":                                 "certificate-reloaded",
	"certificate reload failed; kept previous certificate": "certificate-failed",
}
