package cli

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/share"
)

const (
	AddrFlag    = "addr"
	TimeoutFlag = "timeout"
)

// LocalNode is the default node of verbs that work on nodes only.
const LocalNode = "127.0.0.1:8780"

// Node is the node that the flags of a verb or the environment name, and what a request to it needs. The zero value has none.
type Node struct {
	Addr                          string // "" for none
	TokenFile                     string
	CACert, ClientCert, ClientKey string        // files, PEM
	Timeout                       time.Duration // for which a server may be silent, 0 for the default times
}

// AddAddrFlags adds the flags of a node's address and of the credentials.
func AddAddrFlags(cmd *cobra.Command, n *Node) {
	cmd.Flags().StringVar(&n.Addr, AddrFlag, "", "use the `NODE` at host:port or at a URL (or UMBEL_ADDR)")
	AddCredentialFlags(cmd, n)
}

// AddCredentialFlags adds the flags of the credentials for a node.
func AddCredentialFlags(cmd *cobra.Command, n *Node) {
	flags := cmd.Flags()
	flags.StringVar(&n.TokenFile, "token-file", "", "`FILE` with a token (or UMBEL_CLIENT_TOKEN; or UMBEL_CLIENT_USER and UMBEL_CLIENT_PASSWORD)")
	flags.StringVar(&n.CACert, "cacert", "", "`FILE` of trusted certificates, PEM (or UMBEL_CLIENT_CA)")
	flags.StringVar(&n.ClientCert, "client-cert", "", "`FILE` of the client's certificate, PEM (or UMBEL_CLIENT_CERT)")
	flags.StringVar(&n.ClientKey, "client-key", "", "`FILE` of its key, PEM (or UMBEL_CLIENT_KEY)")
	if flags.Lookup(TimeoutFlag) == nil { // umbel-nix serve has its own
		quantity.DurationVar(flags, new(time.Duration), TimeoutFlag, 0,
			"give up if the server sends nothing for this `DURATION` (default 1m, and 15m for work on whole filters)")
		flags.Lookup(TimeoutFlag).DefValue = ""
	}
	spec.Group(flags, "Flags of the connection to a node", TimeoutFlag, "token-file", "cacert", "client-cert", "client-key")
	prepare(cmd, n.complete)
}

// complete takes from the environment what the flags do not have.
func (n *Node) complete(cmd *cobra.Command, _ []string) (err error) {
	for name, from := range map[string]struct {
		value    *string
		variable string
	}{
		AddrFlag: {&n.Addr, "UMBEL_ADDR"}, "cacert": {&n.CACert, "UMBEL_CLIENT_CA"},
		"client-cert": {&n.ClientCert, "UMBEL_CLIENT_CERT"}, "client-key": {&n.ClientKey, "UMBEL_CLIENT_KEY"},
	} {
		if flag := cmd.Flag(name); !flag.Hidden {
			*from.value = flagOrEnv(flag, from.variable)
		}
	}
	if f := cmd.Flag(TimeoutFlag); f.Changed {
		if n.Timeout, err = quantity.ParseDuration(f.Value.String()); err == nil && n.Timeout <= 0 {
			err = UsageError(fmt.Errorf("--timeout is %v, want more than 0", n.Timeout))
		}
	}
	return err
}

// refuseAddr makes --addr an error for verbs that work on files only.
func refuseAddr(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.String(AddrFlag, "", "use the `NODE`")
	flag := flags.Lookup(AddrFlag)
	flag.Hidden = true // verbs that accept it define their own
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		streamsOf(cmd) // from now on there are the reports of the verb
		if !flag.Changed {
			return nil
		}
		return UsageError(fmt.Errorf("%s works on files only; fetch the filter with umbel node get", cmd.CommandPath()))
	}
}

// localHint adds, to the error of a file that does not exist, that the verb works on files only although
// UMBEL_ADDR names a node. Verbs for a data directory need no such hint.
func localHint(cmd *cobra.Command, err error) error {
	addr := cmd.Flag(AddrFlag)
	if addr == nil || !addr.Hidden || cmd.Flag("data") != nil ||
		os.Getenv("UMBEL_ADDR") == "" || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w; UMBEL_ADDR names a node, but %s works on files only; fetch the filter with umbel node get", err, cmd.CommandPath())
}

// Dial returns the client of the node, nil for none.
func (n Node) Dial(streams *Streams) (*remote.Client, error) {
	if n.Addr == "" {
		return nil, nil
	}
	o, err := n.credentials()
	if err != nil {
		return nil, err
	}
	c, err := remote.New(n.Addr, o)
	if err != nil {
		return nil, err
	}
	var once sync.Once
	c.Refused = func(err error) {
		once.Do(func() { streams.Warn("%s: %s; trying again", c.Base.Host, report.Text(err)) })
	}
	c.Timeout = n.Timeout
	if c.Token != "" {
		return c, nil
	}
	if c.Base.User != nil { // credentials in the address
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

// DialOrLocal is Dial for verbs that work on nodes only; the default is LocalNode.
func (n Node) DialOrLocal(streams *Streams) (*remote.Client, error) {
	n.Addr = cmp.Or(n.Addr, LocalNode)
	return n.Dial(streams)
}

// credentials returns the certificates, and the token of the file.
func (n Node) credentials() (o remote.Options, err error) {
	o = remote.Options{CACert: n.CACert, Cert: n.ClientCert, Key: n.ClientKey}
	if (o.Cert == "") != (o.Key == "") {
		return o, UsageError(errors.New("--client-cert and --client-key must be given together"))
	}
	if n.TokenFile != "" {
		o.Token, err = readToken(n.TokenFile)
	}
	return o, err
}

// flagOrEnv returns the value of a flag, or of an environment variable if the flag isn't given.
func flagOrEnv(f *pflag.Flag, variable string) string {
	if f.Changed {
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
		return "", fmt.Errorf("%s: want one line with a token, as printed by umbel user --token", file)
	}
	return token, nil
}

// nodeError adds to an error of a node what to do about it. It returns other errors unchanged.
func nodeError(err error) error {
	if e, ok := errors.AsType[*remote.Error](err); ok {
		return withHint(fmt.Errorf("node: %w", err), replyHint(e))
	}
	if e, ok := errors.AsType[*remote.ConnectError](err); ok {
		return withHint(err, connectHint(e))
	}
	return err
}

func withHint(err error, hint string) error {
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// replyHint returns what to do about an error reply.
func replyHint(e *remote.Error) string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "give --token-file, UMBEL_CLIENT_TOKEN, or UMBEL_CLIENT_USER and UMBEL_CLIENT_PASSWORD"
	case e.Status == http.StatusBadRequest && e.Foreign:
		return "if the node uses TLS, use https://"
	case e.Word() == api.WordNotFound:
		return fmt.Sprintf("umbel node list --addr %s lists the filters", e.Node)
	case e.Word() == api.WordExists:
		return "use another name, or delete the filter with umbel node delete"
	case errors.Is(e, errors.ErrUnsupported):
		return "umbel kinds lists what each kind supports"
	case errors.Is(e, share.ErrStale):
		return fmt.Sprintf("umbel peers --addr %s shows what the replica follows", e.Node)
	case e.Status == http.StatusServiceUnavailable:
		return "the node's log has the reason; try again later"
	}
	return ""
}

// connectHint returns what to do if there is no reply, or none that can be read.
func connectHint(e *remote.ConnectError) string {
	var (
		untrusted x509.UnknownAuthorityError
		named     x509.HostnameError
		plain     tls.RecordHeaderError
	)
	op, isOp := errors.AsType[*net.OpError](e.Err)
	switch {
	case errors.As(e.Err, &untrusted):
		return "give the trusted certificates with --cacert FILE"
	case errors.As(e.Err, &named):
		return "use a host name that is in the node's certificate"
	case errors.As(e.Err, &plain), errors.Is(e.Err, http.ErrSchemeMismatch):
		return "the node doesn't use TLS; use http://"
	case strings.Contains(e.Err.Error(), "malformed HTTP"):
		return "this isn't HTTP; use the address of umbel serve --http, not that of Redis clients"
	case isOp && op.Op == "remote error": // an alert of TLS
		return "give the client's certificate with --client-cert and --client-key"
	case isOp && op.Op == "dial":
		return "is the node running? umbel serve starts one, and umbel replica a replica"
	}
	return ""
}
