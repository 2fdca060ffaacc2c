package simulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Addresses are where a listening world is to be found. The sites have hosts of their own, as a client keys by host.
type Addresses struct {
	Evomi         string        `json:"evomi"`     // base URL
	EvomiKey      string        `json:"evomi_key"` // of the first account
	Spidra        string        `json:"spidra"`    // base URL, ending in /api
	SpidraKey     string        `json:"spidra_key"`
	OmniScrape    string        `json:"omniscrape"` // base URL
	OmniScrapeKey string        `json:"omniscrape_key"`
	Sites         []SiteAddress `json:"sites"`
	Control       string        `json:"control"` // the counters, as JSON
}

// SiteAddress is one site of a listening world.
type SiteAddress struct {
	Name   string `json:"name"` // its host in the world: the key of its counters
	URL    string `json:"url"`
	Policy string `json:"policy"`
}

// portTries bounds the search for a port that is free on every loopback address.
const portTries = 20

// Listen serves the world on loopback until ctx ends: the platforms on 127.0.0.1, each site on an address of its own,
// 127.77.x.y, all with one port. Where the machine has only 127.0.0.1 the sites are names below localhost. Wait waits for
// the end of serving.
func (w *World) Listen(ctx context.Context) (Addresses, error) {
	sites := w.allSites()
	hosts := make([]string, len(sites))
	for i := range sites {
		hosts[i] = fmt.Sprintf("127.77.%d.%d", i/250, i%250+1)
	}
	var listeners []net.Listener
	var err error
	for range portTries {
		if listeners, err = listenAll(ctx, hosts); err == nil || !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		if listeners, err = listenAll(ctx, nil); err != nil {
			return Addresses{}, fmt.Errorf("the simulator cannot listen on loopback: %w", err)
		}
		for i := range hosts {
			hosts[i] = "site-" + strconv.Itoa(i+1) + ".localhost"
		}
	}
	_, port, err := net.SplitHostPort(listeners[0].Addr().String())
	if err != nil {
		return Addresses{}, err
	}
	base := "http://" + net.JoinHostPort("127.0.0.1", port)
	out := Addresses{Evomi: base + EvomiPath, EvomiKey: w.evomi.firstKey(), Spidra: base + SpidraPath + spidraAPI, SpidraKey: w.spidra.firstKey(),
		OmniScrape: base + OmniScrapePath, OmniScrapeKey: w.omni.firstKey(), Control: base + ControlPath}
	w.mu.Lock()
	w.listener = listeners[0].Addr()
	for i, s := range sites {
		w.byHost[hosts[i]] = s
		out.Sites = append(out.Sites, SiteAddress{Name: s.Host, URL: "http://" + net.JoinHostPort(hosts[i], port), Policy: s.Kind})
	}
	w.mu.Unlock()

	server := &http.Server{
		Handler:           w,
		ReadHeaderTimeout: 10 * time.Second,
		// What a dropped connection or a leaving client brings into the log is the simulation at work.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	for _, l := range listeners {
		w.serving.Go(func() { _ = server.Serve(l) }) // it ends by the Close below
	}
	w.serving.Go(func() {
		<-ctx.Done()
		_ = server.Close() // closing listeners that ended already is no fault
	})
	return out, nil
}

// Wait returns when serving has ended, after the context of Listen.
func (w *World) Wait() { w.serving.Wait() }

var errPortTaken = errors.New("the port is taken on another address")

// listenAll listens on 127.0.0.1 and on each host, on one port.
func listenAll(ctx context.Context, hosts []string) (out []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range out {
				err = errors.Join(err, l.Close())
			}
			out = nil
		}
	}()
	var lc net.ListenConfig
	first, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	out = append(out, first)
	_, port, err := net.SplitHostPort(first.Addr().String())
	if err != nil {
		return out, err
	}
	for i, h := range hosts {
		l, err := lc.Listen(ctx, "tcp4", net.JoinHostPort(h, port))
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("%w: %w", errPortTaken, err)
			}
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

// DialContext connects to the listening world, whatever host of it is asked for, so that an ordinary HTTP client with this
// dialler finds the sites by their names. Only plain HTTP is spoken there. Other hosts are refused.
func (w *World) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host := hostname(address)
	w.mu.Lock()
	listener, known := w.listener, w.byHost[host] != nil || w.hasService(host) || invented(host)
	w.mu.Unlock()
	if listener == nil {
		return nil, errors.New("the simulator does not listen: call Listen first")
	}
	if !known {
		return nil, &net.DNSError{Err: "no such host in the simulated world", Name: host, IsNotFound: true}
	}
	var d net.Dialer
	return d.DialContext(ctx, network, listener.String())
}
