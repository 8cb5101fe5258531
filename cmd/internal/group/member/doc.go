// Package member makes a node a member of a group: nodes that apply the batches of one shared log (package sharedlog), in the same order.
//
//	member.go    Member, its options, and who leads
//	join.go      Join finds the place of a node in the log
//	run.go       Member.Run follows, and claims the log when it is silent
//	lead.go      what a leader does: its log, its end, snapshots of the group
//	fresh.go     whether an answer may lack changes
//	place.go     the file with the last place
//	upload.go    snapshots of the group: pieces that are named by their contents, and manifests
//	fetch.go     a new member begins with such a snapshot
//
// # Roles
//
// A member follows: it writes each batch to its own log and applies it (store.Follow). When the log is silent it claims it. If the claim
// counts, it leads: its journal puts each batch into the shared log and then writes it to its own, so that a restart needs the shared log only
// for what it missed. When another member leads, memory may contain changes that no log has. So Run returns, and the node starts again.
//
// A follower never writes to the shared log. The leader alone deletes expired filters, moves the time of windows, publishes, and takes snapshots of
// the group; each member takes its own.
package member
