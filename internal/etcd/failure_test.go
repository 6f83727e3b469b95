// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

func TestDescribe(t *testing.T) {
	plain := access.Endpoint{Pod: "a-0", Port: 2379}
	secured := access.Endpoint{Pod: "a-0", Port: 2379, TLS: &tls.Config{}, Username: "root"}
	alert := func(text string) error { return &net.OpError{Op: "remote error", Err: errors.New("tls: " + text)} }
	issuer := pkix.Name{CommonName: "their-ca"}
	expired := &x509.Certificate{NotAfter: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	client := secured
	client.ClientCertificate = "Secret team/x, key tls.crt, valid from 2025-01-01T00:00:00Z to 2026-01-02T03:04:00Z"
	for _, c := range []struct {
		row  string
		e    access.Endpoint
		err  error
		want string
	}{
		{"refused port", plain, &tunnel.PortError{Port: 2379, Message: "dial tcp4 127.0.0.1:2379: connect: connection refused"}, "nothing listens on port 2379 (connection refused)"},
		{"forbidden", plain, fmt.Errorf("port-forward: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a-0", errors.New(`User "jane" cannot create resource "pods/portforward"`))), `User "jane" cannot create resource "pods/portforward"`},
		{"silence in the clear", plain, errSilent, "may require TLS"},
		{"silence", secured, errSilent, "the connection was interrupted"},
		{"name", secured, x509.HostnameError{Host: "a-0.a", Certificate: &x509.Certificate{DNSNames: []string{"b", "c"}, IPAddresses: []net.IP{net.IPv4(1, 2, 3, 4)}}}, "its certificate is for b, c, 1.2.3.4, not for a-0.a"},
		{"many names", secured, x509.HostnameError{Host: "h", Certificate: &x509.Certificate{DNSNames: strings.Fields("a b c d e f g h")}}, "for a, b, c, d, e, f and 2 other names, not for h"},
		{"authority", secured, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{Cert: &x509.Certificate{Issuer: issuer}}}, `its certificate is signed by "CN=their-ca", which is none of the trusted`},
		{"expired", secured, x509.CertificateInvalidError{Reason: x509.Expired, Cert: expired}, "to 2026-01-02T03:04:00Z"},
		{"client certificate wanted", secured, alert("certificate required"), "name its secret with --client-secret"},
		{"wanted by an old server", secured, alert("bad certificate"), "name its secret with --client-secret"},
		{"client certificate of another authority", secured, alert("unknown certificate authority"), "the member doesn't trust its authority"},
		{"client certificate that has expired", client, alert("expired certificate"), "(Secret team/x, key tls.crt, valid from 2025-01-01T00:00:00Z to 2026-01-02T03:04:00Z): it has expired; set another one with --cert and --key"},
		{"client certificate that isn't accepted", client, errCertificateRejected, "(Secret team/x, key tls.crt, valid from"},
		{"no route", access.Endpoint{Pod: "a-0", Port: 2379, Address: "10.0.0.1"}, &net.OpError{Op: "dial", Err: errors.New("no route to host")}, "can't connect to 10.0.0.1:2379"},
		{"no TLS", secured, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "doesn't use TLS on port 2379"},
		{"authentication", plain, rpctypes.ErrGRPCUserEmpty, "--user-secret"},
		{"password", secured, rpctypes.ErrAuthFailed, `rejects the password of user "root"`},
		{"no such user", secured, rpctypes.ErrGRPCUserNotFound, `etcd has no user "root"; set others with --etcd-user, or a Secret with them with --user-secret`},
		{"no user of the certificate's name", withoutUser(client), rpctypes.ErrGRPCUserNotFound, "in the client certificate (Secret team/x, key tls.crt, valid from 2025-01-01T00:00:00Z to 2026-01-02T03:04:00Z); set others with --etcd-user"},
		{"permission of the certificate's user", plain, rpctypes.ErrGRPCPermissionDenied, "root has: set others with --etcd-user"},
		{"permission", secured, rpctypes.ErrPermissionDenied, `user "root" has no permission`},
		{"deadline", plain, context.DeadlineExceeded, "no answer in time"},
		{"old etcd", plain, status.Error(codes.Unimplemented, "unknown method"), "doesn't support this call"},
		{"anything else of gRPC's", plain, status.Error(codes.Internal, "odd"), "odd"},
	} {
		t.Run(c.row, func(t *testing.T) {
			if got := describe(c.e, c.err); !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q in it", got, c.want)
			}
		})
	}
}

// withoutUser returns the endpoint for the user of the client certificate.
func withoutUser(e access.Endpoint) access.Endpoint {
	e.Username = ""
	return e
}

// TestPasswordAdvice: a password that etcd refuses is named by where it was read from, and one that can't be read only
// matters if etcd asks for one. All of them name the flags.
func TestPasswordAdvice(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{rejectsPassword(access.Endpoint{Username: "root", PasswordFrom: "Secret shop/root, key etcd-root-password"}), "from Secret shop/root, key etcd-root-password, or has no such user"},
		{rejectsPassword(access.Endpoint{Username: "ann", PasswordFrom: "--etcd-user"}), "set others with --etcd-user"},
		{demandsUser(access.Endpoint{PasswordErr: errors.New("Secret shop/gone does not exist")}), "can't be read: Secret shop/gone does not exist"},
		{demandsUser(access.Endpoint{}), "has no password"},
	} {
		if !strings.Contains(row.text, row.want) || !strings.Contains(row.text, "--etcd-user") || !strings.Contains(row.text, "--user-secret") {
			t.Errorf("%q, want %q and the flags in it", row.text, row.want)
		}
	}
}

// TestDenied: each way in which etcd refuses a user is known as that, also with a message for users.
func TestDenied(t *testing.T) {
	for err, want := range map[error]bool{
		rpctypes.ErrGRPCUserEmpty: true, rpctypes.ErrGRPCUserNotFound: true, rpctypes.ErrGRPCAuthFailed: true, rpctypes.ErrGRPCPermissionDenied: true,
		rpctypes.ErrGRPCNoLeader: false, status.Error(codes.Unavailable, "gone"): false,
	} {
		if described := describeStream(access.Endpoint{Pod: "a-0"}, err); Denied(err) != want || Denied(fmt.Errorf("snapshot of a-0: %w", described)) != want {
			t.Errorf("%v: denied %t, described %t, want %t", err, Denied(err), Denied(described), want)
		}
	}
}

func TestExplainKeepsTheCause(t *testing.T) {
	err := Explain(access.Endpoint{Pod: "a-0"}, rpctypes.ErrPermissionDenied)
	if !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Error("the cause is lost")
	}
	if got := err.Error(); !strings.HasPrefix(got, "member a-0: ") {
		t.Errorf("%q names no member", got)
	}
	if Explain(access.Endpoint{}, nil) != nil || !errors.Is(Explain(access.Endpoint{}, context.Canceled), context.Canceled) {
		t.Error("nothing and an interruption are no failures of a member")
	}
}
