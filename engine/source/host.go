package source

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// hostProfile maps names as browsers do before they look them up (UTS 46, non-transitional). Underscores and odd hyphens
// are let through: such hosts exist and resolve.
var hostProfile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
)

var hostBytes = newByteSet("-_.")

// normaliseAuthority returns the authority as the URL shows it (host and port) and the domain key.
func normaliseAuthority(scheme, authority string) (shown, key string, err error) {
	host, port := authority, ""
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", "", errors.New("the IPv6 address has no closing bracket")
		}
		host, port = authority[1:end], authority[end+1:]
		if port != "" && port[0] != ':' {
			return "", "", errors.New("only a port may follow the IPv6 address")
		}
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", "", errors.New("not a valid IPv6 address")
		}
		key = addr.String()
		shown = "[" + key + "]"
	} else {
		if i := strings.IndexByte(authority, ':'); i >= 0 {
			host, port = authority[:i], authority[i:]
		}
		if key, err = normaliseName(host); err != nil {
			return "", "", err
		}
		shown = key
	}
	if len(port) <= 1 {
		return shown, key, nil
	}
	n, err := normalisePort(port[1:])
	if err != nil {
		return "", "", err
	}
	if scheme == "http" && n != 80 || scheme == "https" && n != 443 {
		shown += ":" + strconv.Itoa(n)
	}
	return shown, key, nil
}

func normalisePort(s string) (int, error) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, errors.New("the port is not a number")
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, errors.New("impossible port: it must be 1 to 65535")
	}
	return n, nil
}

func normaliseName(host string) (string, error) {
	if strings.Contains(host, "%") {
		// RFC 3986 section 3.2.2 lets a name be percent-encoded; what comes out is checked like any other name.
		plain, err := unescapeName(host)
		if err != nil {
			return "", err
		}
		host = plain
	}
	if host == "" {
		return "", errors.New("no host")
	}
	name := strings.ToLower(host)
	if !isPlainName(name) {
		ascii, err := hostProfile.ToASCII(host)
		if err != nil {
			return "", errors.New("the host is not a valid name")
		}
		name = ascii
	}
	name = strings.TrimSuffix(name, ".")
	if err := checkName(name); err != nil {
		return "", err
	}
	return name, nil
}

// isPlainName tells names that IDNA would leave alone.
func isPlainName(s string) bool {
	for i := range len(s) {
		if !hostBytes[s[i]] {
			return false
		}
	}
	return !strings.Contains(s, "xn--")
}

func unescapeName(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", errors.New("bad percent escape in the host")
			}
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		}
		b = append(b, c)
	}
	if err := checkText(string(b)); err != nil {
		return "", errors.New("the host is not a valid name")
	}
	return string(b), nil
}

// checkName applies the limits of DNS (RFC 1035 section 2.3.4), and refuses numbers that resolvers read as an address
// although they do not look like one ("127.1", "0x7f000001", "2130706433").
func checkName(name string) error {
	if name == "" {
		return errors.New("no host")
	}
	if len(name) > 253 {
		return errors.New("the host is longer than 253 bytes")
	}
	label := ""
	for label = range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return errors.New("the host has an empty label")
		case len(label) > 63:
			return errors.New("the host has a label longer than 63 bytes")
		}
		for i := range len(label) {
			if !hostBytes[label[i]] {
				return errors.New("the host holds a character that no name can have")
			}
		}
	}
	if isNumber(label) {
		if addr, err := netip.ParseAddr(name); err != nil || !addr.Is4() {
			return errors.New("the host is a number but not a valid IPv4 address")
		}
	}
	return nil
}

// isNumber tells whether a resolver may read the last label as a number.
func isNumber(label string) bool {
	if rest, hex := strings.CutPrefix(label, "0x"); hex {
		for i := range len(rest) {
			if !isHex(rest[i]) {
				return false
			}
		}
		return true
	}
	for i := range len(label) {
		if !isDigit(label[i]) {
			return false
		}
	}
	return true
}
