package transport

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"dev.scrapetop/engine/provider"
)

func TestPrivateAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.10": true, "10.1.2.3": true, "172.16.0.1": true, "172.32.0.1": false,
		"192.168.1.1": true, "169.254.169.254": true, "100.64.0.1": true, "100.128.0.1": false, "0.0.0.0": true,
		"0.1.2.3": true, "224.0.0.1": true, "255.255.255.255": true, "240.0.0.1": true, "198.18.0.1": true, "192.0.0.8": true,
		"93.184.216.34": false, "8.8.8.8": false,
		"::": true, "::1": true, "::7f00:1": true, "::ffff:127.0.0.1": true, "::ffff:10.0.0.1": true, "::ffff:8.8.8.8": false,
		"fe80::1": true, "fe80::1%eth0": true, "fc00::1": true, "fd00:ec2::254": true, "fec0::1": true, "ff02::1": true,
		"64:ff9b::7f00:1": true, "64:ff9b::808:808": false, "2002:7f00:1::": true, "2002:808:808::": false,
		"2001:0:1::1": true, "2606:4700::1": false,
	} {
		if got := private(netip.MustParseAddr(text)); got != want {
			t.Errorf("private(%s) = %v, want %v", text, got, want)
		}
	}
	if !private(netip.Addr{}) {
		t.Error("an unreadable address passes")
	}
}

func TestPrivateAddressIsForbidden(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	// localhost is a name: the rule must hold for what it resolves to, not for how it is spelled.
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		c := client(t, Config{AllowPrivate: func(host string) bool { return host == "allowed.test" }})
		got := c.Do(t.Context(), get("http://"+host+port+"/"))
		if got.Fault != provider.FaultForbidden || got.Sent {
			t.Errorf("%s: fault %q (%s), sent %v", host, got.Fault, got.Error, got.Sent)
		}
	}
	c := New(Config{})
	defer c.Close()
	if got := c.Do(t.Context(), get(s.URL)); got.Fault != provider.FaultForbidden {
		t.Errorf("without AllowPrivate: fault %q (%s)", got.Fault, got.Error)
	}
	asked := make(chan string, 1)
	c = client(t, Config{AllowPrivate: func(host string) bool { asked <- host; return true }})
	if got := c.Do(t.Context(), get("http://LOCALHOST"+port)); got.Fault != "" {
		t.Errorf("allowed: fault %q (%s)", got.Fault, got.Error)
	}
	if host := <-asked; host != "localhost" {
		t.Errorf("asked about %q", host)
	}
}

func TestAddressesThatAreNotRequested(t *testing.T) {
	for url, want := range map[string]provider.Fault{
		"file:///etc/passwd":         provider.FaultForbidden,
		"ftp://a.test/":              provider.FaultForbidden,
		"http://u:hunter2@a.test/":   provider.FaultForbidden,
		"https://a.test:robots.txt/": provider.FaultProtocol,
		"http:///nohost":             provider.FaultProtocol,
		"http://a.test/\x7f":         provider.FaultProtocol,
	} {
		got := client(t, Config{}).Do(t.Context(), get(url))
		if got.Fault != want || got.Sent || got.Error == "" {
			t.Errorf("%q: fault %q (%s), sent %v, want %q", url, got.Fault, got.Error, got.Sent, want)
		}
		if strings.Contains(got.Error, "hunter2") {
			t.Errorf("%q: the error shows the password: %s", url, got.Error)
		}
	}
}
