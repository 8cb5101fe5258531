package node

import (
	"context"
	"log/slog"
)

// events are the values of the attribute "event" of log messages. They never change, also if the
// message does, so that searches and alerts can rely on them. docs/node-logs.md describes them.
var events = map[string]string{
	"ready":                          "ready",
	"restoring the filters":          "recovering",
	"signal":                         "signal",
	"shutting down":                  "stopping",
	"shutdown complete":              "stopped",
	"shutdown completed with errors": "stopped-with-errors",
	"fatal: listener failed":         "listener-failed",
	"panic in an HTTP request; the process ends": "panic",
	"the node does not respond":                  "unresponsive",

	"filter is overfull": "filter-overfull",

	"audit": "audit",

	"reloaded":                                             "reloaded",
	"reload failed; kept previous settings":                "reload-failed",
	"reload incomplete; kept previous values":              "reload-incomplete",
	"setting change needs a restart":                       "restart-needed",
	"certificate reloaded":                                 "certificate-reloaded",
	"certificate reload failed; kept previous certificate": "certificate-failed",
	"memory limit exceeded after recovery; creating and growing filters is refused": "memory-exceeded",

	"accept failed; retrying":                        "accept-failed",
	"client disconnected":                            "client-disconnected",
	"no event loop; each connection has a goroutine": "no-event-loop",
	"tls handshake failed":                           "tls-failed",
	"fault of an HTTP connection":                    "http-error",
	"http request failed":                            "http-failed",

	"log write failed; refusing writes":                         "log-failed",
	"log writable again":                                        "log-recovered",
	"disk full; refusing writes until snapshots have made room": "disk-full",
	"max-disk is too small for the filters; changes may be refused until it is raised or filters are deleted": "max-disk-too-small",
	"disk still full; will retry":                                         "disk-still-full",
	"disk has room again; accepting writes":                               "disk-recovered",
	"could not release the reserve":                                       "reserve-failed",
	"no room for the reserve; a full disk may have to be cleared by hand": "reserve-missing",
	"could not remove spare files of the log":                             "cleanup-failed",
	"closing a segment failed":                                            "cleanup-failed",
	"removing obsolete segments failed":                                   "cleanup-failed",
	"cleanup after backup failed":                                         "cleanup-failed",
	"could not delete obsolete snapshot data; will retry":                 "cleanup-failed",
	"could not delete the files of a failed snapshot; will retry":         "cleanup-failed",

	"publishing a filter": "publication-started",
	"filter is published": "published",
	"filter is not published; its subscribers become stale":                                "publication-suspended",
	"publishing a filter failed; will retry":                                               "publication-failed",
	"filter was replaced by one of another kind or hash; its subscribers fetch a snapshot": "publication-replaced",
	"could not note the unused objects of a publication; they remain longer":               "publication-close",
	"could not remove old objects of a publication; will retry":                            "cleanup-failed",
	"publication stopped": "publication-stopped",
	"the last version of a publication can't be read; its subscribers fetch a snapshot": "publication-restarted",

	"replica ready":        "ready",
	"publication is exact": "subscription-exact",
	"publication is stale, because its head has expired":                   "subscription-stale",
	"version can't be used; the one before answers until its head expires": "subscription-refused",

	"update failed":         "subscription-failed",
	"updates succeed again": "subscription-recovered",
	"a part of the version cannot be used, and another way to it is tried":                        "subscription-resync",
	"the publisher that began later has stopped":                                                  "subscription-publisher",
	"a publisher that began later is followed now":                                                "subscription-publisher",
	"the publisher was set back":                                                                  "subscription-publisher",
	"the cache is ignored":                                                                        "subscription-cache",
	"the version in the cache is fetched again":                                                   "subscription-cache",
	"the cache has objects that are not needed":                                                   "cleanup-failed",
	"no class within the limits has the rate that suffices":                                       "subscription-budget",
	"every first version is longer than the limit":                                                "subscription-budget",
	"a class that the publication announces is missing":                                           "subscription-class",
	"the class stays, because a finer one cannot be followed":                                     "subscription-class",
	"no delta leads to the version; subscribers fetch a snapshot":                                 "publication-replaced",
	"the coarsest class takes more bytes per second than the limit; versions are skipped or late": "subscription-budget",
	"a new stream begins, because the last version cannot be read; subscribers fetch a snapshot":  "publication-restarted",
	"the head in the store is damaged and is replaced":                                            "publication-repaired",

	"snapshot taken": "snapshot",
	"the process ended while it wrote or removed a manifest, which is completed": "snapshot-interrupted",
	"snapshot failed":                                          "snapshot-failed",
	"snapshot failed; log not truncated":                       "snapshot-failed",
	"deleting the previous snapshot, because the disk is full": "snapshot-given-up",

	"discarded an incomplete batch at the end of the log, which was never acknowledged": "log-torn",
	"a copy of the head is missing or damaged; the other one is used":                   "damage-repaired",
	"a copy of the head is damaged; the other one is used":                              "damage-repaired",
	"the disk cannot read a part of a segment; it is treated as damaged":                "segment-unreadable",
	"last snapshot unreadable; using the previous one":                                  "damage-repaired",
	"last snapshot of a filter unreadable; using the previous one":                      "damage-repaired",
	"previous snapshot unreadable":                                                      "damage-repaired",
	"manifest of a snapshot is damaged":                                                 "damage-repaired",
	"last snapshot unreadable; using the whole log":                                     "damage-repaired",
	"last snapshot of a filter unreadable; the log creates the filter":                  "damage-repaired",
	"last snapshot unreadable; writing all filters":                                     "damage-repaired",
	"data loss accepted": "data-lost",
	"data of filters was lost; their queries return true for every key until they are created again":                       "filters-incomplete",
	"names of filters may be missing; commands with unknown names fail until the loss is acknowledged (umbel acknowledge)": "names-missing",
}

// eventHandler adds the attribute "event" to messages.
type eventHandler struct{ slog.Handler }

func (h eventHandler) Handle(ctx context.Context, r slog.Record) error {
	if event, ok := events[r.Message]; ok {
		r = r.Clone()
		r.AddAttrs(slog.String("event", event))
	}
	return h.Handler.Handle(ctx, r)
}

func (h eventHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return eventHandler{h.Handler.WithAttrs(attrs)}
}

func (h eventHandler) WithGroup(name string) slog.Handler {
	return eventHandler{h.Handler.WithGroup(name)}
}
