package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// moduleVersion is the version of RedisBloom whose replies are reproduced.
const moduleVersion = 80800

// refusals are commands with a constant answer.
func (k *builtin) refusals() []command.Row {
	return []command.Row{
		{Name: "debug", Arity: -2, Right: access.Admin, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
			Summary: "Not supported.", Run: always("ERR DEBUG command not allowed.")},
		{Name: "replicaof", Arity: 3, Right: access.Admin,
			Flags: "admin noscript stale no_async_loading", Categories: "admin slow dangerous",
			Summary: "Not supported.", Run: replicaOf},
		{Name: "slaveof", Arity: 3, Right: access.Admin,
			Flags: "admin noscript stale no_async_loading", Categories: "admin slow dangerous",
			Summary: "Not supported.", Run: replicaOf},
		{Name: "module", Arity: -2, Categories: "slow",
			Summary: "Module commands."},
		{Name: "module|list", Arity: 2, Flags: "admin noscript", Categories: "admin slow dangerous",
			Summary: "Lists the module bf, like RedisBloom.", Run: moduleList},
		{Name: "module|help", Arity: 2, Flags: "loading stale", Categories: "slow",
			Summary: "Lists the subcommands.", Run: moduleHelp},
		{Name: "acl", Arity: -2, Categories: "slow",
			Summary: "Access control commands."},
		{Name: "acl|whoami", Arity: 2, Flags: "noscript loading stale", Categories: "slow",
			Summary: "Returns the client's user.", Run: whoAmI},
		{Name: "acl|cat", Arity: -2, Flags: "noscript loading stale", Categories: "slow",
			Summary: "Lists command categories.", Run: aclCat},
		{Name: "acl|help", Arity: 2, Flags: "loading stale", Categories: "slow",
			Summary: "Lists the subcommands.", Run: aclHelp},
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
	c.Error("ERR replication is not supported; use umbel backup make or UM.EXPORT")
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
	c.Help("MODULE", "LIST", "    Return a list of loaded modules.")
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
	c.Help("ACL",
		"CAT [<category>]", "    List all commands that belong to <category>, or all command categories",
		"    when no category is specified.",
		"WHOAMI", "    Return the current connection username.")
}
