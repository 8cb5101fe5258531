package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

const addrFlag = "addr"

// localNode is the node that verbs ask which ask nothing else, unless they are told another.
const localNode = "127.0.0.1:8780"

// addAddrFlags adds the flags that say which node a verb asks, and who asks.
func addAddrFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String(addrFlag, "", "ask the `NODE` at host:port, or at a URL (or UMBEL_ADDR)")
	flags.String("token-file", "", "`FILE` with the token for it (or UMBEL_CLIENT_TOKEN; or UMBEL_CLIENT_USER and UMBEL_CLIENT_PASSWORD)")
	flags.String("cacert", "", "`FILE` of the certificates to trust, in PEM (or UMBEL_CLIENT_CA)")
	flags.String("client-cert", "", "`FILE` of the own certificate, in PEM (or UMBEL_CLIENT_CERT)")
	flags.String("client-key", "", "`FILE` of its key, in PEM (or UMBEL_CLIENT_KEY)")
}

// refuseAddr makes --addr of verbs that don't take it an error with a reason.
func refuseAddr(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.String(addrFlag, "", "")
	flag := flags.Lookup(addrFlag)
	flag.Hidden = true // verbs that take it have their own
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if !flag.Changed {
			return nil
		}
		return usageError(cmd, fmt.Errorf("%s asks no node and takes no --addr; umbel get fetches a filter from a node into a file", cmd.CommandPath()))
	}
}

// dial returns the client of the node that the verb is to ask; nil if none is named.
func dial(cmd *cobra.Command) (*remote.Client, error) {
	addr := flagOr(cmd.Flags(), addrFlag, "UMBEL_ADDR")
	if addr == "" {
		return nil, nil
	}
	return dialTo(cmd, addr)
}

// dialAny is dial of a verb that works on nodes only.
func dialAny(cmd *cobra.Command) (*remote.Client, error) {
	return dialTo(cmd, cmp.Or(flagOr(cmd.Flags(), addrFlag, "UMBEL_ADDR"), localNode))
}

func dialTo(cmd *cobra.Command, addr string) (*remote.Client, error) {
	interruptible(cmd)
	flags := cmd.Flags()
	o := remote.Options{
		CACert: flagOr(flags, "cacert", "UMBEL_CLIENT_CA"),
		Cert:   flagOr(flags, "client-cert", "UMBEL_CLIENT_CERT"),
		Key:    flagOr(flags, "client-key", "UMBEL_CLIENT_KEY"),
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, usageError(cmd, errors.New("--client-cert and --client-key go together"))
	}
	c, err := remote.New(addr, o)
	if err != nil {
		return nil, err
	}
	if file, _ := flags.GetString("token-file"); file != "" {
		c.Token, err = readToken(file)
		return c, err
	}
	if c.Base.User != nil { // the address says who
		return c, nil
	}
	if c.Token = os.Getenv("UMBEL_CLIENT_TOKEN"); c.Token != "" {
		return c, nil
	}
	if user := os.Getenv("UMBEL_CLIENT_USER"); user != "" {
		c.Base.User = url.UserPassword(user, os.Getenv("UMBEL_CLIENT_PASSWORD"))
	}
	return c, nil
}

// interruptible makes ^C break off what a verb asks a node, so that it can undo what it has done
// there by half. A second one ends it at once.
func interruptible(cmd *cobra.Command) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	cmd.SetContext(ctx)
}

// flagOr returns what a flag says, or, where it isn't given, a variable of the environment.
func flagOr(flags *pflag.FlagSet, name, variable string) string {
	if f := flags.Lookup(name); f.Changed {
		return f.Value.String()
	}
	return os.Getenv(variable)
}

func readToken(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	token := string(bytes.TrimSpace(b))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: want a token on one line, as umbel user --token prints it", file)
	}
	return token, nil
}
