package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// errForbidden marks what the manners refuse.
var errForbidden = errors.New("refused by the manners")

// guardedDial dials what a host resolves to, and refuses private addresses unless allow says yes for the host.
func guardedDial(allow func(host string) bool, timeout time.Duration) func(context.Context, string, string) (net.Conn, error) {
	open := net.Dialer{Timeout: timeout}
	guarded := open
	guarded.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: the address dialled cannot be read", errForbidden)
		}
		if private(ap.Addr()) {
			return fmt.Errorf("%w: the name leads to the private address %s", errForbidden, ap.Addr())
		}
		return nil
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if allow != nil && allow(strings.ToLower(host)) {
			return open.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
}

// reserved are the ranges that netip has no predicate for (RFC 6890 and its registries).
var reserved = prefixes(
	"0.0.0.0/8",     // this network
	"100.64.0.0/10", // shared address space of carriers
	"192.0.0.0/24",  // protocol assignments
	"198.18.0.0/15", // benchmarking
	"240.0.0.0/4",   // reserved, and limited broadcast
	"::/96",         // IPv4-compatible, unspecified, loopback
	"64:ff9b:1::/48",
	"100::/64",  // discard
	"2001::/32", // Teredo: leads to an embedded address
	"fec0::/10", // site-local
)

// embedded are the ranges whose addresses carry an IPv4 address, with the offset of its four bytes.
var embedded = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// private reports whether an address is not one of the public internet: loopback, link-local (the metadata services of
// clouds among them), private, unique local, shared, multicast, unspecified or reserved, in any IPv6 dress.
func private(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return true
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return true
		}
	}
	for _, e := range embedded {
		if e.prefix.Contains(a) {
			b := a.As16()
			return private(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	return false
}
