// Package command contains what the commands of packages keyspace, redisbloom and um share: the rows
// of their tables, replies, the parsing of arguments, rights and limits of memory.
package command
