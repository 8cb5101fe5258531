package node

import (
	"errors"
	"slices"
)

// reloadable are the settings that Reload puts in force; the rest waits for the next start.
var reloadable = append([]string{"log-level", "max-memory"}, limited...)

// Reload reads users and certificates again, and puts in force what can be of changed settings.
// What can't be read stays as it was, and is in the error.
func (n *Node) Reload(c Config) error {
	var errs []error
	if n.users != nil {
		errs = append(errs, n.users.Reload())
	}
	if n.tls != nil {
		errs = append(errs, n.tls.Reload())
	}
	errs = append(errs, n.setLevel(c.LogLevel))
	n.setMemory(c.MaxMemory)
	n.limitClients(c)
	before := map[string]string{}
	for name, value := range n.config.values() {
		before[name] = value
	}
	for name, value := range c.values() {
		if before[name] != value && !slices.Contains(reloadable, name) {
			n.log.Warn("a setting has changed that waits for the next start", "setting", name, "now", before[name], "then", value)
		}
	}
	err := errors.Join(errs...)
	if err != nil {
		n.log.Error("not all could be read again; what couldn't is as it was", "error", err)
	} else {
		n.log.Info("read again", "users", n.users != nil, "certificates", n.tls != nil)
	}
	return err
}

// hashes tells what new filters hash with, but for seeds.
func (n *Node) hashes() string {
	if n.config.Hash != "auto" {
		return n.config.Hash
	}
	if len(n.config.beyond()) > 0 {
		return "siphash"
	}
	return "redisbloom"
}
