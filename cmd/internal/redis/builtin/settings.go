package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// settings are the subcommands of CONFIG.
func (k *builtin) settings() []command.Row {
	const flags, categories = "admin noscript loading stale", "admin slow dangerous"
	return []command.Row{
		{Name: "config", Arity: -2, Categories: "slow",
			Summary: "Reads and changes settings."},
		{Name: "config|get", Arity: -3, Right: access.Admin, NotAudited: true, Flags: flags, Categories: categories,
			Summary: "Returns the settings that match patterns.", Run: k.configGet},
		{Name: "config|set", Arity: -4, Right: access.Admin, Flags: flags, Categories: categories,
			Summary: "Changes settings, all of them or none.", Run: k.configSet},
		{Name: "config|resetstat", Arity: 2, Right: access.Admin, Flags: flags, Categories: categories,
			Summary: "Resets command statistics.", Run: k.configResetStat},
		{Name: "config|rewrite", Arity: 2, Right: access.Admin, Flags: flags, Categories: categories,
			Summary: "Not supported.", Run: configRewrite},
		{Name: "config|help", Arity: 2, Flags: "loading stale", Categories: "slow",
			Summary: "Lists the subcommands.", Run: configHelp},
	}
}

// get returns the settings that match, including those of the monitor.
func (k *builtin) get(pattern string) [][2]string {
	return append(k.node.Config().Get(pattern), k.monitor.get(pattern)...)
}

// value returns one setting by name.
func (k *builtin) value(name string) (string, bool) {
	for _, s := range k.get(escape(name)) {
		if strings.EqualFold(s[0], name) {
			return s[1], true
		}
	}
	return "", false
}

// escape returns a pattern that matches only the name.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

func (k *builtin) set(name, value string) error {
	if known, err := k.monitor.set(name, value); known {
		return err
	}
	return k.node.Config().Set(name, value)
}

func (k *builtin) configGet(c *resp.Conn, args [][]byte) {
	var found [][2]string
	for _, word := range args[2:] {
		pattern := string(word)
		for _, s := range k.get(strings.ToLower(pattern)) {
			if slices.ContainsFunc(found, func(f [2]string) bool { return strings.EqualFold(f[0], s[0]) }) {
				continue
			}
			if !strings.ContainsAny(pattern, "*?[") {
				s[0] = pattern // Redis returns the name as it was written
			}
			found = append(found, s)
		}
	}
	c.Map(len(found))
	for _, s := range found {
		c.BulkString(s[0])
		c.BulkString(s[1])
	}
}

func (k *builtin) configSet(c *resp.Conn, args [][]byte) {
	if len(args)%2 != 0 {
		c.Error(syntaxError)
		return
	}
	var before [][2]string
	for i := 2; i < len(args); i += 2 {
		name := strings.ToLower(string(args[i]))
		old, known := k.value(name)
		if !known {
			c.Error(fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", command.Clip(args[i])))
			return
		}
		if slices.ContainsFunc(before, func(s [2]string) bool { return s[0] == name }) {
			c.Error(failed(args[i], "duplicate parameter"))
			return
		}
		before = append(before, [2]string{name, old})
	}
	for i, s := range before {
		err := k.set(s[0], string(args[2*i+3]))
		if err == nil {
			continue
		}
		for _, s := range before[:i] {
			_ = k.set(s[0], s[1]) // restores the previous value
		}
		c.Error(failed(args[2*i+2], err.Error()))
		return
	}
	c.Simple("OK")
}

func failed(name []byte, why string) string {
	return fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", command.Clip(name), why)
}

func (k *builtin) configResetStat(c *resp.Conn, _ [][]byte) {
	k.monitor.resetUsage(c.Server())
	c.Server().ResetErrors()
	c.Simple("OK")
}

func configRewrite(c *resp.Conn, _ [][]byte) {
	c.Error("ERR The server is running without a config file")
}

func configHelp(c *resp.Conn, _ [][]byte) {
	c.Help("CONFIG",
		"GET <pattern>", "    Return parameters matching the glob-like <pattern> and their values.",
		"SET <directive> <value>", "    Set the configuration <directive> to <value>.",
		"RESETSTAT", "    Reset statistics reported by the INFO command.",
		"REWRITE", "    Isn't done: the file belongs to who wrote it.")
}
