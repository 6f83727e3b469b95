// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

// MemberError is why a call to a member failed, in words for people.
type MemberError struct {
	Namespace, Pod string
	// Words say why, without the pod.
	Words string
	// Err is what happened.
	Err error

	// code is gRPC's, by which etcd's client decides whether to try again.
	code codes.Code
}

func (e *MemberError) Error() string { return "member " + e.Pod + ": " + e.Words }
func (e *MemberError) Unwrap() error { return e.Err }

// GRPCStatus keeps the code for those who look at it.
func (e *MemberError) GRPCStatus() *status.Status { return status.New(e.code, e.Words) }

// messageError is an error with another message.
type messageError struct {
	message string
	err     error
}

func (e *messageError) Error() string { return e.message }
func (e *messageError) Unwrap() error { return e.err }

// Reason is an error of this package without the member that it begins with, for
// where the member is said already. It is empty for nil.
func Reason(err error) string {
	var m *MemberError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &m):
		return m.Words
	}
	return err.Error()
}

// Explain words an error that a client of Cluster.Client returned for people. It
// returns nil for nil, and what it knows nothing better for as it is.
func Explain(e Endpoint, err error) error {
	var m *MemberError
	if err == nil || errors.As(err, &m) || errors.Is(err, context.Canceled) {
		return err
	}
	return &MemberError{Namespace: e.Namespace, Pod: e.Pod, Words: words(e, err), Err: err, code: status.Code(err)}
}

// words says what an error means.
func words(e Endpoint, err error) string {
	for _, explain := range []func(Endpoint, error) string{wordsOfTunnel, wordsOfCertificate, wordsOfTLS, wordsOfEtcd} {
		if said := explain(e, err); said != "" {
			return said
		}
	}
	if said, ok := status.FromError(err); ok {
		return said.Message()
	}
	return err.Error()
}

const wantsCertificate = "wants a client certificate, and none was found: name its secret with --client-secret"

func wordsOfTunnel(e Endpoint, err error) string {
	var said apierrors.APIStatus
	var port *tunnel.PortError
	switch {
	case errors.As(err, &said):
		return said.Status().Message
	case errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &port):
		return fmt.Sprintf("nothing listens on port %d (connection refused): etcd doesn't run there, or not on localhost", port.Port)
	case errors.As(err, &port) && !port.Reset():
		return port.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, errSilent) && e.TLS == nil:
		return fmt.Sprintf("closed the connection on port %d without a word: it may want TLS, which its pod doesn't say", e.Port)
	case errors.Is(err, errWantsCertificate):
		return wantsCertificate
	case errors.Is(err, errDislikesCertificate):
		return "closed the connection after it saw the client certificate, which it seems not to trust"
	case errors.Is(err, errSilent), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was cut"
	}
	return ""
}

func wordsOfCertificate(_ Endpoint, err error) string {
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var own *CertificateError
	switch {
	case errors.As(err, &own):
		return "its certificate is not accepted: " + own.Reason
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for %s, not for %s", namesOf(name.Certificate), name.Host)
	case errors.As(err, &authority) && authority.Cert != nil:
		return fmt.Sprintf("its certificate, by %q, comes from none of the authorities that its clients trust", authority.Cert.Issuer)
	case errors.As(err, &authority):
		return "its certificate comes from none of the authorities that its clients trust"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Sprintf("its certificate is valid from %s to %s only", invalid.Cert.NotBefore.Format("2006-01-02 15:04"), invalid.Cert.NotAfter.Format("2006-01-02 15:04 MST"))
	case errors.As(err, &invalid):
		return invalid.Error()
	}
	return ""
}

// namesOf are the names that a certificate is for, the first few where it has many.
func namesOf(certificate *x509.Certificate) string {
	names := slices.Clone(certificate.DNSNames)
	for _, address := range certificate.IPAddresses {
		names = append(names, address.String())
	}
	const most = 6
	switch {
	case len(names) == 0:
		return "no name at all"
	case len(names) > most:
		return fmt.Sprintf("%s and %d other names", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

func wordsOfTLS(e Endpoint, err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Sprintf("speaks no TLS on port %d, although its pod says so", e.Port)
	}
	// crypto/tls has the alert that the other side sent as text only.
	_, alert, found := strings.Cut(err.Error(), "remote error: tls: ")
	if !found {
		return ""
	}
	shown := e.TLS != nil && (len(e.TLS.Certificates) > 0 || e.TLS.GetClientCertificate != nil)
	switch {
	case alert == "certificate required", alert == "bad certificate" && !shown:
		return wantsCertificate
	case alert == "bad certificate":
		return "refuses the client certificate"
	case alert == "unknown certificate authority":
		return "refuses the client certificate: it comes from an authority that the member doesn't trust"
	case alert == "expired certificate":
		return "refuses the client certificate: it has expired"
	}
	return "refuses TLS: " + alert
}

func wordsOfEtcd(e Endpoint, err error) string {
	err = rpctypes.Error(err)
	switch {
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return "authentication is on: name the secret with a user's name and password with --user-secret"
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return fmt.Sprintf("refuses the password of user %q", e.Username)
	case errors.Is(err, rpctypes.ErrPermissionDenied) && e.Username != "":
		return fmt.Sprintf("user %q has no permission for this; root has", e.Username)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return "the client certificate's user has no permission for this; root has"
	case errors.Is(err, rpctypes.ErrNoLeader):
		return "has no leader: it is cut off from the others, or the cluster has lost quorum"
	case errors.Is(err, rpctypes.ErrNotCapable), status.Code(err) == codes.Unimplemented:
		return "its version of etcd doesn't know this call"
	}
	return ""
}
