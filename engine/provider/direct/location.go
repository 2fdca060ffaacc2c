package direct

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxURL is the longest URL that is followed, in bytes; browsers and servers give up around 8 KiB too.
const maxURL = 8 << 10

// parse resolves a reference against where it stood and refuses what we would not fetch. Its errors never hold the URL
// whole: it may carry secrets.
func parse(base *url.URL, ref string) (*url.URL, error) {
	ref = strings.Trim(ref, " \t")
	switch {
	case ref == "":
		return nil, errors.New("it is missing or empty")
	case len(ref) > maxURL:
		return nil, fmt.Errorf("it is %d bytes long, more than %d", len(ref), maxURL)
	}
	u, err := url.Parse(ref)
	if err != nil {
		var broken *url.Error
		if errors.As(err, &broken) {
			err = broken.Err
		}
		return nil, err
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("its scheme %.20q is not http or https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("it names no host")
	case u.User != nil:
		return nil, errors.New("it carries credentials")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("its port %.10q does not exist", port)
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// loginWords are path segments, and first labels of hosts, that ask for a login.
var loginWords = map[string]bool{
	"login": true, "log-in": true, "log_in": true, "logon": true, "signin": true, "sign-in": true, "sign_in": true,
	"sso": true, "wp-login": true, "servicelogin": true, "userlogin": true, "authenticate": true,
}

// asksToLogIn reports whether a URL looks like a login page, by a whole path segment (its extension aside) or by the
// first label of its host.
func asksToLogIn(u *url.URL) bool {
	for segment := range strings.SplitSeq(strings.ToLower(u.Path), "/") {
		name, _, _ := strings.Cut(segment, ".")
		if loginWords[name] {
			return true
		}
	}
	label, _, dotted := strings.Cut(strings.ToLower(u.Hostname()), ".")
	return dotted && (loginWords[label] || label == "auth")
}
