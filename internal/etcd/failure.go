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
	"net"
	"strconv"
	"strings"
	"syscall"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// MemberError is the error of a call to a member with a message for users.
type MemberError struct {
	Namespace, Pod string
	// Message is the message without the pod.
	Message string
	// Err is the original error.
	Err error

	// code is gRPC's code, by which etcd's client decides whether to retry.
	code codes.Code
}

func (e *MemberError) Error() string { return "member " + e.Pod + ": " + e.Message }
func (e *MemberError) Unwrap() error { return e.Err }

// GRPCStatus returns a status with the original code.
func (e *MemberError) GRPCStatus() *status.Status { return status.New(e.code, e.Message) }

// messageError is an error with another message.
type messageError struct {
	message string
	err     error
}

func (e *messageError) Error() string { return e.message }
func (e *messageError) Unwrap() error { return e.err }

// Reason returns the message of an error of this package without the member at its
// beginning, for output that names the member already. It is empty for nil.
func Reason(err error) string {
	var m *MemberError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &m):
		return m.Message
	}
	return err.Error()
}

// Explain returns an error of a client of Cluster.Client with a message for users. It
// returns nil for nil.
func Explain(e access.Endpoint, err error) error {
	var m *MemberError
	if err == nil || errors.As(err, &m) || errors.Is(err, context.Canceled) {
		return err
	}
	return &MemberError{Namespace: e.Namespace, Pod: e.Pod, Message: describe(e, err), Err: err, code: status.Code(err)}
}

// describe returns a message for users.
func describe(e access.Endpoint, err error) string {
	for _, one := range []func(access.Endpoint, error) string{describeTunnel, describeCertificate, describeTLS, describeEtcd} {
		if message := one(e, err); message != "" {
			return message
		}
	}
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

const demandsCertificate = "demands a client certificate, and none was found: set one with --cert and --key, or name its secret with --client-secret"

// ofClient describes the client certificate that was presented, in parentheses.
func ofClient(e access.Endpoint) string {
	if e.ClientCertificate == "" {
		return ""
	}
	return " (" + e.ClientCertificate + ")"
}

// describeTunnel describes an error of the API server or of the connection, empty for others.
func describeTunnel(e access.Endpoint, err error) string {
	var refusal apierrors.APIStatus
	var port *tunnel.PortError
	switch {
	case errors.As(err, &refusal):
		return refusal.Status().Message
	case errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &port):
		return fmt.Sprintf("nothing listens on port %d (connection refused): etcd doesn't run there, or doesn't listen on localhost", port.Port)
	case e.Address != "" && dialed(err):
		return fmt.Sprintf("this machine can't connect to %s (%v): --direct needs a route to the pods", net.JoinHostPort(e.Address, strconv.Itoa(e.Port)), err)
	case errors.As(err, &port) && !port.Reset():
		return port.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, errSilent) && e.TLS == nil:
		return fmt.Sprintf("closed the connection on port %d without an answer: it may require TLS, although its pod doesn't configure TLS", e.Port)
	case errors.Is(err, errCertificateDemanded):
		return demandsCertificate
	case errors.Is(err, errCertificateRejected):
		return "closed the connection after it received the client certificate" + ofClient(e) + ", which it probably doesn't trust; " + adviseOther
	case errors.Is(err, errSilent), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was interrupted"
	}
	return ""
}

// dialed reports whether an error is that of a connection which could not be opened.
func dialed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// describeCertificate describes why a member's certificate is rejected, empty for other errors.
func describeCertificate(_ access.Endpoint, err error) string {
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var own *access.CertificateError
	switch {
	case errors.As(err, &own):
		return "its certificate is rejected: " + own.Reason
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for %s, not for %s", access.CertificateNames(name.Certificate), name.Host)
	case errors.As(err, &authority) && authority.Cert != nil:
		return fmt.Sprintf("its certificate is signed by %q, which is none of the trusted authorities", authority.Cert.Issuer)
	case errors.As(err, &authority):
		return "its certificate is signed by none of the trusted authorities"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Sprintf("its certificate is only valid from %s to %s", format.Time(invalid.Cert.NotBefore), format.Time(invalid.Cert.NotAfter))
	case errors.As(err, &invalid):
		return invalid.Error()
	}
	return ""
}

const adviseOther = "set another one with --cert and --key"

const adviseUser = "set a user with --etcd-user, or a Secret with one with --user-secret"

// adviseOthers is the advice where etcd refuses the user that it gets.
const adviseOthers = "set others with --etcd-user, or a Secret with them with --user-secret"

// describeTLS describes an error of TLS, empty for others.
func describeTLS(e access.Endpoint, err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Sprintf("doesn't use TLS on port %d, although its pod configures TLS", e.Port)
	}
	// crypto/tls exposes the alert of the other side only as text.
	_, alert, found := strings.Cut(err.Error(), "remote error: tls: ")
	if !found {
		return ""
	}
	presented := e.TLS != nil && (len(e.TLS.Certificates) > 0 || e.TLS.GetClientCertificate != nil)
	switch {
	case alert == "certificate required", alert == "bad certificate" && !presented:
		return demandsCertificate
	case alert == "bad certificate":
		return "rejects the client certificate" + ofClient(e) + "; " + adviseOther
	case alert == "unknown certificate authority":
		return "rejects the client certificate" + ofClient(e) + ": the member doesn't trust its authority; " + adviseOther
	case alert == "expired certificate":
		return "rejects the client certificate" + ofClient(e) + ": it has expired; " + adviseOther
	}
	return "rejects the TLS connection: " + alert
}

// describeEtcd describes an error of etcd, empty for others.
func describeEtcd(e access.Endpoint, err error) string {
	err = rpctypes.Error(err)
	switch {
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return demandsUser(e)
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return rejectsPassword(e)
	case errors.Is(err, rpctypes.ErrUserNotFound) && e.Username != "":
		return fmt.Sprintf("etcd has no user %q; %s", e.Username, adviseOthers)
	case errors.Is(err, rpctypes.ErrUserNotFound):
		return "authentication is enabled, and etcd has no user with the name in the client certificate" + ofClient(e) + "; " + adviseOthers
	case errors.Is(err, rpctypes.ErrPermissionDenied) && e.Username != "":
		return fmt.Sprintf("user %q has no permission for this; root has: %s", e.Username, adviseOthers)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return "the client certificate's user has no permission for this; root has: " + adviseOthers
	case errors.Is(err, rpctypes.ErrNoLeader):
		return "has no leader: it has no connection to the others, or the cluster has lost quorum"
	case errors.Is(err, rpctypes.ErrNotCapable), status.Code(err) == codes.Unimplemented:
		return "its version of etcd doesn't support this call"
	}
	return ""
}

// demandsUser describes that etcd wants a user and got none.
func demandsUser(e access.Endpoint) string {
	if e.PasswordErr != nil {
		return fmt.Sprintf("authentication is enabled, and the password in its pod's configuration can't be read: %v; %s", e.PasswordErr, adviseUser)
	}
	return "authentication is enabled, and its pod's configuration has no password: " + adviseUser
}

// rejectsPassword describes that etcd refused a password, and where that password is from.
func rejectsPassword(e access.Endpoint) string {
	what := fmt.Sprintf("rejects the password of user %q", e.Username)
	switch e.PasswordFrom {
	case "", "--etcd-user":
		return what + ", or has no such user; " + adviseOthers
	}
	return fmt.Sprintf("%s from %s, or has no such user: the password in etcd was probably changed; %s", what, e.PasswordFrom, adviseUser)
}
