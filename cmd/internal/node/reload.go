package node

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/internal/event"
)

// reloadable are the settings that Reload applies; the others need a restart.
var reloadable = func() []string {
	names := []string{"log-level", "max-memory", "max-disk", "publications"}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Limits).limitFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}()

// Reload reads users, certificates, the slot map and keys of publications again and applies changed settings where possible. If
// something cannot be read its previous value stays, and the error contains it.
func (n *Node) Reload(c Config) error {
	var errs []error
	if n.users != nil {
		errs = append(errs, n.users.Reload())
	}
	if n.tls != nil {
		errs = append(errs, n.tls.Reload())
	}
	errs = append(errs, n.reloadPlace())
	errs = append(errs, n.setLevel(c.LogLevel))
	n.setMemory(c.MaxMemory)
	if n.publications != nil {
		if err := n.applyPublications(c.Publications); err != nil {
			errs = append(errs, err)
			c.Publications = n.limits.Load().Publications
		}
	}
	n.limitClients(c)
	before := map[string]string{}
	for name, value := range n.config.values() {
		before[name] = value
	}
	for name, value := range c.values() {
		if before[name] != value && !slices.Contains(reloadable, name) {
			n.log.Warn("setting change needs a restart", event.RestartNeeded, "setting", name, "running", before[name], "configured", value)
		}
	}
	err := errors.Join(errs...)
	if err != nil {
		n.log.Error("reload incomplete; kept previous values", event.ReloadIncomplete, "error", err)
	} else {
		n.log.Info("reloaded", event.Reloaded, "users", n.users != nil, "certificates", n.tls != nil)
	}
	return err
}

// hashes returns the hash of new filters without the seed.
func (n *Node) hashes() string {
	if n.config.Hash != "auto" {
		return n.config.Hash
	}
	if len(n.config.exposed()) > 0 {
		return "siphash"
	}
	return "redisbloom"
}
