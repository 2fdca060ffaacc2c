package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"dev.scrapetop/engine/provider"
)

// tlsDone ends the handshake stage, unless it failed: the failure is then the exchange's.
func tlsDone(p *progress) func(tls.ConnectionState, error) {
	return func(_ tls.ConnectionState, err error) {
		if err == nil {
			p.handshaking.Store(false)
		}
	}
}

// beforeSending reports faults that happen before any byte of the request leaves.
func beforeSending(f provider.Fault) bool {
	switch f {
	case provider.FaultDNS, provider.FaultConnect, provider.FaultTLS, provider.FaultForbidden:
		return true
	}
	return false
}

// faultOf classifies the error of an exchange that brought no response. handshaking tells that the connection was inside
// its TLS handshake.
func faultOf(ctx context.Context, err error, handshaking bool) provider.Fault {
	if errors.Is(err, errForbidden) {
		return provider.FaultForbidden
	}
	if f := contextFault(ctx); f != provider.NoFault {
		return f
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return provider.FaultDNS
	}
	if timedOut(err) {
		return provider.FaultTimeout
	}
	if handshaking || isTLS(err) {
		return provider.FaultTLS
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return provider.FaultConnect
	}
	if op != nil || isClosed(err) {
		return provider.FaultReset
	}
	return provider.FaultProtocol
}

// bodyFault classifies the error of a body whose headers had arrived.
func bodyFault(ctx context.Context, err error) provider.Fault {
	switch {
	case errors.Is(err, errTooLarge):
		return provider.FaultTooLarge
	case errors.Is(err, errDecode):
		return provider.FaultDecode
	}
	if f := contextFault(ctx); f != provider.NoFault {
		return f
	}
	switch {
	case timedOut(err):
		return provider.FaultTimeout
	case strings.Contains(err.Error(), "chunked") || strings.Contains(err.Error(), "chunk length"):
		return provider.FaultProtocol // net/http has no value for it
	}
	return provider.FaultTruncated
}

func contextFault(ctx context.Context) provider.Fault {
	switch {
	case ctx.Err() == nil:
		return provider.NoFault
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return provider.FaultTimeout
	}
	return provider.FaultCancelled
}

func timedOut(err error) bool {
	var t net.Error
	return errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

func isTLS(err error) bool {
	var (
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &unknown) ||
		errors.As(err, &name) || errors.As(err, &invalid) || strings.Contains(err.Error(), "tls: ")
}

func isClosed(err error) bool {
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, errSecondSend, syscall.ECONNRESET,
		syscall.EPIPE, syscall.ECONNABORTED} {
		if errors.Is(err, known) {
			return true
		}
	}
	// net/http keeps this value to itself.
	return strings.Contains(err.Error(), "server closed idle connection") ||
		strings.Contains(err.Error(), "client connection lost")
}
