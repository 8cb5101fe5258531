package keyspace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// moduleVersion is the version of RedisBloom whose replies are reproduced.
const moduleVersion = 80800

// refusals are commands with a constant answer.
func (k *keyspace) refusals() []row {
	return []row{
		{"cluster", -2, noKeys, "", "", "slow", "Not supported.", always("ERR This instance has cluster support disabled")},
		{"debug", -2, noKeys, "admin", "admin noscript loading stale", "admin slow dangerous", "Not supported.", always("ERR DEBUG command not allowed.")},
		{"replicaof", 3, noKeys, "admin", "admin noscript stale no_async_loading", "admin slow dangerous", "Not supported.", replicaOf},
		{"slaveof", 3, noKeys, "admin", "admin noscript stale no_async_loading", "admin slow dangerous", "Not supported.", replicaOf},
		{"module", -2, noKeys, "", "", "slow", "Module commands.", nil},
		{"module|list", 2, noKeys, "", "admin noscript", "admin slow dangerous", "Lists the module bf, like RedisBloom.", moduleList},
		{"module|help", 2, noKeys, "", "loading stale", "slow", "Lists the subcommands.", moduleHelp},
		{"acl", -2, noKeys, "", "", "slow", "Access control commands.", nil},
		{"acl|whoami", 2, noKeys, "", "noscript loading stale", "slow", "Returns the client's user.", whoAmI},
		{"acl|cat", -2, noKeys, "", "noscript loading stale", "slow", "Lists command categories.", aclCat},
		{"acl|help", 2, noKeys, "", "loading stale", "slow", "Lists the subcommands.", aclHelp},
	}
}

// always returns a command that replies an error.
func always(text string) func(*resp.Conn, [][]byte) {
	return func(c *resp.Conn, _ [][]byte) { c.Error(text) }
}

func replicaOf(c *resp.Conn, args [][]byte) {
	if command.Is(args[1], "no") && command.Is(args[2], "one") {
		c.Simple("OK")
		return
	}
	c.Error("ERR replication is not supported; use umbel backup or UM.EXPORT")
}

func moduleList(c *resp.Conn, _ [][]byte) {
	c.Array(1)
	c.Map(4)
	c.BulkString("name")
	c.BulkString("bf")
	c.BulkString("ver")
	c.Int(moduleVersion)
	c.BulkString("path")
	c.BulkString("")
	c.BulkString("args")
	c.Array(0)
}

func moduleHelp(c *resp.Conn, _ [][]byte) {
	replyHelp(c, "MODULE", "LIST", "    Return a list of loaded modules.")
}

func whoAmI(c *resp.Conn, _ [][]byte) {
	if u, ok := c.User.(*access.User); ok && u != nil && u.Name != "" {
		c.BulkString(u.Name)
		return
	}
	c.BulkString("default")
}

// categories are Redis' command categories.
var categories = strings.Fields(`keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub
	admin fast slow blocking dangerous connection transaction scripting bloom cuckoo umbel`)

// aclCat lists the categories, or the commands of one category.
func aclCat(c *resp.Conn, args [][]byte) {
	if len(args) > 3 {
		c.Error(unknownSubcommand("CAT", "ACL"))
		return
	}
	list := categories
	if len(args) == 3 {
		category := strings.ToLower(string(args[2]))
		if !slices.Contains(categories, category) {
			c.Error(fmt.Sprintf("ERR Unknown category '%s'", command.Clip(args[2])))
			return
		}
		list = nil
		c.Server().Commands(func(cmd *resp.Command) {
			if slices.Contains(cmd.Categories, "@"+category) {
				list = append(list, cmd.Name)
			}
		})
	}
	c.Array(len(list))
	for _, word := range list {
		c.BulkString(word)
	}
}

func aclHelp(c *resp.Conn, _ [][]byte) {
	replyHelp(c, "ACL",
		"CAT [<category>]", "    List all commands that belong to <category>, or all command categories",
		"    when no category is specified.",
		"WHOAMI", "    Return the current connection username.")
}
