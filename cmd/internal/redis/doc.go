// Package redis is the map of the protocol of Redis on a node. Begin with resp/doc.go.
//
//   - resp: connections, event loops, transactions and replies, for any table of commands.
//   - command: what the tables of commands share: rows, replies, arguments, rights.
//   - redisbloom: BF.*, and CF.* if enabled. cuckoo is the kind of CF.*; rdb reads and writes the payloads of DUMP.
//   - um: UM.*, commands for filters of any kind.
//   - slots: which node has which names, as in Redis Cluster.
//   - builtin: the commands of Redis itself: names, expiry, INFO, CONFIG, SLOWLOG and others.
package redis
