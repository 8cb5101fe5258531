// Package share publishes a filter once, so that it answers queries everywhere.
//
// A publication is a small signed head and immutable objects named by their content: packed
// containers (snapshots), changes from earlier versions (deltas), and indexes of both. Objects never
// change, so anything can carry them: a directory, a web server, a bucket, a memory stick. A relay is
// a copy. The publisher knows no subscribers, and subscribers do not trust the carrier: a head is
// signed, every object is verified by its hash, and the filter by the root of its hash tree.
//
// A [Publisher] writes versions of any filter to a [Store]; [Publisher.Run] follows a filter that changes. A
// [Subscriber] reads versions from a [Source] and answers queries meanwhile; [Subscriber.Run] follows them. A
// subscriber that missed versions takes the objects with the fewest bytes; it needs at most 8 objects after 1296 missed versions.
// [Peers] answers which of many publications may have a key.
//
// A publisher may offer its filter folded by a few factors as well ([PublisherOptions.Folds]): each fold
// class is a publication of its own in the same store. A subscriber with a [Budget] follows the class that
// suffices for it, and changes it by folds and refinements.
//
// # An update
//
// A subscriber has three parts: the chooser reads heads, the fetcher gets their versions, and the view answers.
//
//	Source ──── head ────► chooser: verify its signature, class and order
//	   │                      │     choose the class that suits the budget
//	   │                      │     wait until its bytes may be received
//	   │                      ▼
//	   │                   fetcher: is it the local version? then done
//	   │                      │     by a delta of the head, or else
//	   ├───── index ─────────►│     the cheapest path: from the local version, or from a snapshot
//	   ├───── objects ───────►│     apply each, verify the ID of the result
//	   │                      │     another path if that fails
//	   │                      ▼
//	   │                    cache: write the new objects, then the record of the version
//	   │                      │
//	   │                      ▼
//	   └── (next head)      view:  answers queries until its head expires, and then as Stale says
//
// A publisher makes what they read: of each class, a draft of the version with its changes since the last one,
// deltas from up to about 20 earlier versions, sometimes a snapshot, an index, notes for itself, and at last the head.
//
// # What a subscriber answers
//
// A subscriber is exact only while its filter has been verified and its head is valid. Then Has is
// what the publisher's filter answered at most [Head.Valid] ago. Otherwise it answers what the
// program has chosen: an error, "maybe" for every key, or the last version ([Stale]). Data
// that is lost, repeated, reordered or damaged on the way makes a subscriber late, never wrong: it keeps
// its last version until it has verified another one.
//
// A subscriber accepts heads in the order of their times, and while a head is valid none of a stream
// that began earlier. With a cache it keeps to this after a restart, too. A publisher continues the stream in its
// store, and begins a new one if the store is empty or unreadable. If the store is restored from a
// backup, versions repeat: subscribers then fetch a snapshot.
//
// # Clocks
//
// If the clock of the publisher is ahead of that of a subscriber by d when the subscriber accepts a
// head, the version is exact for at most Valid + d after the head was signed, and for at most Valid
// after it was accepted, however the subscriber's clock is changed meanwhile. d is negative if the
// subscriber's clock is ahead. A head that is more than [SubscriberOptions.Skew] ahead is refused.
//
// So wrong clocks make subscribers late, with one exception: if a subscriber's clock is behind, a
// carrier that withholds heads can pass off a version that is older by as much. After clocks were
// corrected, subscribers are exact with the next head. If their clocks were ahead as well, they had accepted heads
// from the future, and are exact again when these heads have expired.
//
// After a restart only the clock decides whether the version of a cache is exact, until the first
// update. A machine whose clock stops while the machine is off should use no cache, or update first.
//
// While a machine is suspended, Has and HasString do not notice that the head expires, until the next update;
// [View.Exact] does.
//
// The format is spec/share.md. Package share/dir keeps publications in directories, and package
// share/web serves and reads them over HTTP.
//
// # Files
//
// publisher_*.go and subscriber_*.go are the two sides, head_*.go and object_*.go what goes from one to the other.
// store.go is what carriers implement. publisher_class.go writes the deltas and the snapshot of a version, and
// publisher_catalog.go has the rules for when a snapshot is written and which deltas remain. In this order, each file refers to later ones only:
// publisher_run, publisher_publish, publisher_resume, publisher_notes, publisher, publisher_class, …, and
// subscriber_run, subscriber_update, subscriber, subscriber_cache, subscriber_choose, subscriber_fetch, ….
package share
