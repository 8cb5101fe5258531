package node

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// kubernetes are the forms of the variables that Kubernetes sets in each container for each Service of its namespace,
// without the part that is the name of the Service in capitals: NAME_SERVICE_HOST; NAME_SERVICE_PORT, and
// NAME_SERVICE_PORT_PORTNAME for each named port; NAME_PORT; and for each port NAME_PORT_80_TCP and this with
// _PROTO, _PORT and _ADDR. NAME_PORT and NAME_PORT_80_TCP are URLs such as tcp://10.0.0.1:80.
var kubernetes = sync.OnceValue(func() []variableForm {
	form := func(name string, value func(string) bool) variableForm {
		return variableForm{regexp.MustCompile("(^|_)" + name + "$"), value}
	}
	const port = "PORT_[0-9]+_(TCP|UDP|SCTP)"
	return []variableForm{
		form("SERVICE_HOST", isAddress), form("SERVICE_PORT(_[A-Z0-9_]+)?", isPort),
		form("PORT", isEndpoint), form(port, isEndpoint),
		form(port+"_PROTO", isProtocol), form(port+"_PORT", isPort), form(port+"_ADDR", isAddress),
	}
})

// variableForm is the form of a variable's name, and of its value.
type variableForm struct {
	name  *regexp.Regexp
	value func(string) bool
}

// isKubernetes reports whether a variable, without the prefix, has a name and a value that Kubernetes sets for a Service
// whose name is umbel or begins with umbel-. A setting with such a name differs by its value.
func isKubernetes(variable, value string) bool {
	for _, f := range kubernetes() {
		if f.name.MatchString(variable) && f.value(value) {
			return true
		}
	}
	return false
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

func isProtocol(s string) bool { return s == "tcp" || s == "udp" || s == "sctp" }

func isEndpoint(s string) bool {
	u, err := url.Parse(strings.ToLower(s))
	return err == nil && isProtocol(u.Scheme) && isAddress(u.Hostname()) && isPort(u.Port()) && u.Path == ""
}
